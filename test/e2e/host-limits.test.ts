import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { COLD } from "../../src/runtime/cold-start.ts";
import { makeFolder } from "../make-folder.ts";
import { commandUnderTest, type JsonReport } from "./command.ts";

/**
 * Loads that no host can send end by themselves or at Ctrl-C, with a report, and never take the host's memory. Times are generous, because
 * other work may have the cores; that the event loop has its turns is tested on a simulated clock.
 */

const repository = join(import.meta.dirname, "..", "..");
const MOST_BYTES = 1e9;
/** A process that takes longer never ends. */
const LIMIT_MS = 200_000;
/** `ulimit` and `/proc` are those of Linux. */
const SKIP = { skip: !existsSync("/proc/self/status") };

const folder = makeFolder();
let mock: ChildProcess;
const addresses = { http: "", grpc: "" };

before(async () => {
  const [program, ...first] = commandUnderTest as [string, ...string[]];
  const args = [...first, "mock", "--http-port", "0", "--grpc-port", "0"];
  const env = { ...process.env, [COLD]: "0" };
  mock = spawn(program, args, { cwd: repository, env, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once((mock.stdout as NonNullable<typeof mock.stdout>).setEncoding("utf8"), "data")) as [string];
  [, addresses.http = "", addresses.grpc = ""] = /http (\S+:\d+), grpc (\S+:\d+)/.exec(line) ?? [];
});
after(() => {
  mock.kill();
});

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
  /** Time from the signal, or from the start, to the end. */
  readonly tookMs: number;
  readonly peakBytes: number;
  readonly report: JsonReport;
}

interface Given {
  readonly protocol?: "http" | "grpc";
  /** The address instead of the mock's. */
  readonly url?: string;
  /** Sends SIGINT this long after the first level began. */
  readonly interruptAfterMs?: number;
  readonly ulimit?: string;
  readonly flags?: readonly string[];
}

let count = 0;

/** Runs a scenario in a child, which is killed when it takes too much memory or time. */
async function run(load: string, given: Given = {}): Promise<Ended> {
  const { protocol = "http", url = addresses[protocol], interruptAfterMs, ulimit = "-c 0", flags = [] } = given;
  const name = join(folder, `load-${count++}`);
  const scenario = `import { ramp, defineScenario, findMax, hold, p50, rate, rateRamp, steps, triton } from "rampart";
export default defineScenario({ name: "impossible", target: triton("${url}", { protocol: "${protocol}", model: "simple" }), load: ${load} });
`;
  writeFileSync(`${name}.ts`, scenario);
  const command = [...commandUnderTest, "run", `${name}.ts`, "--json", `${name}.json`, ...flags];
  // The shell's process becomes the command's, so that signals reach it.
  const child = spawn("sh", ["-c", `ulimit ${ulimit} && exec "$@"`, "sh", ...command], {
    cwd: repository,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  let sinceMs = Date.now();
  let peakBytes = 0;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    const isFirst = !stderr.includes("measuring");
    stderr += text;
    if (interruptAfterMs === undefined || !isFirst || !stderr.includes("measuring")) return;
    setTimeout(() => {
      sinceMs = Date.now();
      child.kill("SIGINT");
    }, interruptAfterMs);
  });
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, peakOf(child.pid ?? 0));
    if (peakBytes > MOST_BYTES) child.kill("SIGKILL");
  }, 50);
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const [code] = (await once(child, "close")) as [number | null];
  clearInterval(watch);
  clearTimeout(limit);
  const tookMs = Date.now() - sinceMs;
  assert.ok(peakBytes < MOST_BYTES, `it took ${peakBytes / 1e6} MB`);
  assert.ok(existsSync(`${name}.json`), `it wrote no report, and ended with ${code} after ${tookMs} ms: ${stderr}`);
  const report = JSON.parse(readFileSync(`${name}.json`, "utf8")) as JsonReport;
  return { code, stderr, tookMs, peakBytes, report };
}

function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0") * 1024;
  } catch {
    // It has ended.
    return 0;
  }
}

for (const [protocol, perSec] of [
  ["http", 200_000],
  ["grpc", 1_000_000],
] as const) {
  describe(`over ${protocol}`, SKIP, () => {
    test(`${perSec} requests/s for half a second end, and are not a success`, async () => {
      const { code, report } = await run(`rate(${perSec}, { for: "500 ms" })`, { protocol });
      assert.equal(code, 66);
      const { sent, completed, failed } = report.requests;
      assert.ok(completed > 0 && sent >= completed + failed);
    });

    test("a signal ends a million requests/s", async () => {
      const { code } = await run('rate(1000000, { for: "10 min" })', { protocol, interruptAfterMs: 500 });
      assert.ok(code === 130 || code === 66, String(code));
    });

    test("a search up to a billion requests/s ends", async () => {
      const options = 'where: [p50("latency").below("1 min")], window: "100 ms", settle: "50 ms", forAtMost: "200 ms"';
      const { code } = await run(`findMax({ range: rateRamp(50000, 1e9), ${options} })`, { protocol });
      assert.equal(code, 66);
    });

    test("ten million requests in flight are refused, after the levels before them", async () => {
      const alone = await run("hold(1e7)", { protocol });
      assert.deepEqual([alone.code, alone.report.requests.sent], [66, 0]);
      assert.match(alone.stderr, /the load needs 10,000,000 requests in flight, above the client's limit of [\d,]+:/);
      const { code, report } = await run('steps([1, 2, 1e7], { for: "200 ms" })', { protocol });
      assert.equal(code, 66);
      assert.deepEqual([report.levels.map(({ level }) => level), report.error?.code], [[1, 2], "host-limit"]);
    });
  });
}

test("a rate that this host can send is sent as it was asked for, and the server counts the same", SKIP, async () => {
  const { code, report } = await run('rate(100, { for: "4 s" })');
  const { sent, completed } = report.requests;
  assert.equal(code, 0);
  // The time in which the load becomes steady has requests too. On a busy machine, what was due before the first moment may be sent after it, and what
  // was due in the last moments is late.
  const perSec = report.levels[0]?.load.delivered ?? 0;
  assert.ok(perSec > 70 && perSec <= 120, String(perSec));
  assert.deepEqual([completed, report.server?.successCount], [sent, sent]);
});

describe("a limit that is reached", SKIP, () => {
  test("ends the run, is named, and counts what is in flight as unfinished", async () => {
    const { code, stderr, report } = await run('rate(100000, { for: "1 min" })', {
      flags: ["--max-in-flight", "40"],
    });
    assert.equal(code, 66);
    assert.match(stderr, /the client reached its limit of 40 requests in flight: as maxInFlight .* says/);
    assert.deepEqual([report.isPartial, report.requests.failed], [true, 0]);
  });

  test("is that of open files, and a name needs no more of them than an address", async () => {
    const ulimit = "-n 400";
    for (const host of ["127.0.0.1", "localhost"]) {
      const url = addresses.http.replace("127.0.0.1", host);
      const { code, report } = await run('hold(300, { for: "500 ms" })', { url, ulimit });
      assert.deepEqual([code, report.failures, report.connections], [0, [], 300], host);
    }
    const { code, stderr } = await run('hold(500, { for: "500 ms" })', { ulimit });
    assert.equal(code, 66);
    assert.match(stderr, /this process may open 400 files\. Raise that limit \(ulimit -n\)/);
  });

  test("holds for all threads together", async () => {
    const ulimit = "-n 400";
    const flags = ["--workers", "3"];
    const { code, report } = await run('hold(290, { for: "500 ms" })', { ulimit, flags });
    assert.deepEqual([code, report.failures, report.connections], [0, [], 290]);
    const files = await run('hold(500, { for: "500 ms" })', { ulimit, flags });
    assert.deepEqual([files.code, files.report.requests.sent], [66, 0]);
    assert.match(files.stderr, /the load needs 500 requests in flight, .*: this process may open 400 files\./);
    const asked = await run('rate(100000, { for: "1 min" })', { flags: [...flags, "--max-in-flight", "40"] });
    assert.equal(asked.code, 66);
    assert.match(asked.stderr, /the client reached its limit of 40 requests in flight: /);
    // Connections would be counted again when the server closes idle ones.
    const { sent, completed, failed } = asked.report.requests;
    assert.ok(sent - completed - failed <= 40, `${sent} sent, ${completed} completed, ${failed} failed`);
  });

  test("in a compatible mode is an error like its others", async () => {
    const [program, ...first] = commandUnderTest as [string, ...string[]];
    const args = [program, ...first, "perf_analyzer", "-m", "simple", "-u", addresses.http, "-t", "900", "-p", "100"];
    const child = spawn("sh", ["-c", 'ulimit -n 400 && exec "$@"', "sh", ...args], { cwd: repository });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.stdout.resume();
    const [code] = (await once(child, "close")) as [number | null];
    assert.equal(code, 99);
    assert.match(stderr, /^error: the load needs 900 requests in flight, above the client's limit/m);
  });
});
