import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { REPORT_FLAGS } from "../cli/report-flags.ts";
import type { Stub } from "../servers/stub.ts";
import { userFlags, type Way } from "./clients.ts";

const GROWTH_LIMIT_MB = 30;
const PEAK_LIMIT_MB = 250;
const SETTLE_MS = 10_000;
const SAMPLE_MS = 500;
const SLOPE_S = 60;

/** A run at full speed whose memory is looked at. */
interface MemoryCase {
  readonly title: string;
  readonly way: Way;
  args(stub: Stub, durationS: number, folder: string): string[];
}

/** Windows of 6 s that never count as stable, more of them than the time allows. */
function windowsOf(way: Way): MemoryCase {
  const endless = ["-s", "0.0001", "-r", "1000"];
  const flagsOf = (stub: Stub, durationS: number): string[] =>
    userFlags({ way, concurrency: 16 }, stub, { windowMs: 5000, durationS });
  return { title: way, way, args: (stub, durationS) => ["perf_analyzer", ...flagsOf(stub, durationS), ...endless] };
}

/** One level of the whole time, which is longer than the time that is looked at. @param options for a file in a folder */
function levelWith(title: string, options: readonly string[]): MemoryCase {
  return {
    title,
    way: "http",
    args: ({ httpPort }, durationS, folder) => {
      const body = join(folder, "body.json");
      const data = Array.from({ length: 16 }, (_, at) => at);
      const inputs = ["INPUT0", "INPUT1"].map((name) => ({ name, shape: [1, 16], datatype: "INT32", data }));
      writeFileSync(body, JSON.stringify({ inputs }));
      const files = options.flatMap((option) => [option, join(folder, option.slice(2))]);
      const url = `http://127.0.0.1:${httpPort}/v2/models/simple/infer`;
      return ["http", url, "-c", "16", "-d", `@${body}`, "--for", `${durationS}s`, "-q", ...files];
    },
  };
}

const CASES: readonly MemoryCase[] = [
  windowsOf("http"),
  windowsOf("grpc"),
  levelWith("http with all reports", REPORT_FLAGS),
  levelWith("http with files of all requests", ["--records", "--profile-export-file"]),
];

/**
 * Runs the executable at full speed, over HTTP and gRPC, with reports and with files of single requests, and compares its memory after the first
 * 10 s with the highest later. Gives the exit code: 1 when it grew by 30 MB or more while the load lasted, or was 250 MB or more.
 */
export async function measureMemory(executable: string, stub: Stub, durationS: number): Promise<number> {
  let exitCode = 0;
  for (const { title, way, args } of CASES) {
    await stub.reset();
    const folder = mkdtempSync(join(tmpdir(), "rampart-bench-"));
    try {
      const memory = await sampleMemory([executable, ...args(stub, durationS, folder)], durationS);
      const counter = await stub.counter();
      const growthMb = memory.highestMb - memory.settledMb;
      const passed = growthMb < GROWTH_LIMIT_MB && memory.peakMb < PEAK_LIMIT_MB && memory.samples > 1;
      if (!passed) exitCode = 1;
      // A shorter one shows only when garbage was collected.
      const slope = durationS < SLOPE_S ? "" : `slope ${memory.slopeMbPerHour.toFixed(1)} MB/h, `;
      const course = `${memory.settledMb.toFixed(1)} MB after 10 s, at most ${memory.highestMb.toFixed(1)} MB later, ${slope}peak with the report ${memory.peakMb.toFixed(1)} MB`;
      const verdict = `growth ${growthMb.toFixed(1)} MB of ${GROWTH_LIMIT_MB} allowed: ${passed ? "PASS" : "FAIL"}`;
      console.log(
        `memory, ${title}, ${durationS} s, ${counter[way].toLocaleString("en")} requests: ${course}; ${verdict}`,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return exitCode;
}

/** `highestMb` and `slopeMbPerHour` are of the load after 10 s, `peakMb` of all. */
type Course = { settledMb: number; highestMb: number; slopeMbPerHour: number; peakMb: number; samples: number };

/** A run that does not end by itself soon after its time is ended. */
const REPORT_MS = 30_000;

async function sampleMemory(command: readonly string[], durationS: number): Promise<Course> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  const loadMb: (readonly [sec: number, mb: number])[] = [];
  let peakMb = 0;
  const startMs = performance.now();
  const passedMs = (): number => performance.now() - startMs;
  const isPerfAnalyzer = args[0] === "perf_analyzer";
  const lastMs = durationS * 1000 + (isPerfAnalyzer ? 0 : REPORT_MS);
  while (passedMs() < lastMs && child.exitCode === null) {
    await wait(SAMPLE_MS);
    const rssMb = readTreeMb(child.pid ?? 0);
    if (rssMb === 0) continue;
    peakMb = Math.max(peakMb, rssMb);
    const atMs = passedMs();
    if (atMs >= SETTLE_MS && atMs < durationS * 1000) loadMb.push([atMs / 1000, rssMb]);
  }
  child.kill("SIGKILL");
  await ended;
  const highestMb = Math.max(...loadMb.map(([, mb]) => mb));
  const settledMb = loadMb[0]?.[1] ?? Number.NaN;
  return { settledMb, highestMb, slopeMbPerHour: slopeOf(loadMb) * 3600, peakMb, samples: loadMb.length };
}

/** The slope of the line that fits best (least squares). */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const meanOf = (pick: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [meanX, meanY] = [meanOf(([x]) => x), meanOf(([, y]) => y)];
  return meanOf(([x, y]) => (x - meanX) * (y - meanY)) / meanOf(([x]) => (x - meanX) ** 2);
}

/** Resident memory of a process and its descendants, MB; 0 once it is gone. */
function readTreeMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const ownMb = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
    return children.reduce((sumMb, child) => sumMb + readTreeMb(Number(child)), ownMb);
  } catch {
    return 0;
  }
}
