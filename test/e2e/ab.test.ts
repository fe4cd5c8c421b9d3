import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { makeFolder, writeIn } from "../make-folder.ts";
import { type AnsweringServer, startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import { runRampart } from "./command.ts";

/** `ab(…)`, beside a server whose paths have known latencies. */

const folder = makeFolder();
let server: AnsweringServer;
let paths: string[] = [];
before(async () => {
  server = await startAnsweringServer((response, index) => {
    const path = server.received[index]?.path ?? "";
    paths.push(path);
    const ms = Number(/\d+/.exec(path)?.[0]);
    setTimeout(() => response.end("ok"), ms);
  });
});
beforeEach(() => {
  paths = [];
});
after(() => {
  server.close();
});

function writeScenario(name: string, target: string, more = "", requests = 20): string {
  const text = `import { ab, defineScenario, errorRate, hold, http } from "rampart";
export default defineScenario({
  name: "${name}", target: ${target}, load: hold(2, { requests: ${requests} }), assert: [errorRate().is(0)], ${more}
});
`;
  return writeIn(folder, `${name}.ts`, text);
}

const at = (path: string): string => `http("${server.url}/${path}")`;

interface AbJson {
  readonly alternation: { readonly blocks: readonly { readonly target: string }[] };
  readonly verdict: { readonly name: string };
  readonly comparisons: readonly {
    readonly base: { readonly name: string; readonly runs: readonly unknown[] };
    readonly levels: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly verdict: string;
        readonly ratio?: { readonly value: number; readonly low: number; readonly high: number };
        readonly base: { readonly runs: readonly number[] };
      }[];
    }[];
  }[];
}

async function compare(file: string, args: readonly string[] = []) {
  const json = join(folder, "ab.json");
  const ran = await runRampart(["run", file, "--json", json, ...args]);
  const report = JSON.parse(readFileSync(json, "utf8")) as AbJson;
  const metric = (name: string) => report.comparisons[0]?.levels[0]?.metrics.find((one) => one.name === name);
  return { ...ran, report, metric };
}

/** The paths of the blocks, in the order in which they came. */
function blocksOf(all: readonly string[]): string[] {
  return all.filter((path, index) => path !== all[index - 1]);
}

describe("ab(…)", () => {
  test("alternates, and finds a known difference", LIMIT, async () => {
    const file = writeScenario("slower", `ab(${at("40")}, ${at("160")}, { pairs: 3, names: ["old", "new"] })`);
    const { code, stdout, stderr, report, metric } = await compare(file);
    assert.equal(code, 0, stdout + stderr);
    assert.deepEqual(
      report.alternation.blocks.map((block) => block.target),
      ["old", "new", "new", "old", "old", "new"],
    );
    assert.deepEqual(blocksOf(paths), ["/40", "/160", "/40", "/160"]);
    assert.equal(paths.length, 6 * 20);
    const latency = metric("latency.p50");
    assert.equal(latency?.verdict, "worse");
    // 160 ms are four times 40 ms. What timers and a busy machine add makes the ratio smaller, and the interval wider.
    const { low = 0, high = 0, value = 0 } = latency?.ratio ?? {};
    assert.ok(value > 1.5 && value < 4.5 && low <= value && value <= high, JSON.stringify(latency?.ratio));
    assert.equal(latency?.base.runs.length, 3);
    // A median does not move when the machine stops for a moment; the throughput of a block does, and its verdict may become less certain.
    assert.ok(
      ["worse", "inconclusive"].includes(metric("throughput")?.verdict ?? ""),
      JSON.stringify(metric("throughput")),
    );
    assert.match(stdout, /new against old/);
    assert.doesNotMatch(stdout, /plans differ/, "that the targets differ is what is asked");
    assert.match(stdout, /error rate = 0 % +at all 6 blocks/);
  });

  test("strict, fails what is worse", LIMIT, async () => {
    // So many pairs decide it also on a busy machine, whose delays are short beside the difference.
    const target = `ab(${at("60")}, ${at("600")}, { pairs: 4, strict: true })`;
    const file = writeScenario("strict", target, "", 4);
    const { code, stdout, report } = await compare(file, ["--workers", "2"]);
    assert.equal(code, 65, stdout);
    assert.equal(report.verdict.name, "failed");
  });

  test("finds no difference that matters where there is none", LIMIT, async () => {
    const file = writeScenario("same", `ab(${at("50?a")}, ${at("50?b")}, { pairs: 3, precision: "40 %" })`);
    const { code, stdout, metric } = await compare(file);
    assert.equal(code, 0, stdout);
    const { low = 0, high = 9 } = metric("latency.p50")?.ratio ?? {};
    // No such difference is claimed, however wide a busy machine makes the interval.
    assert.ok(low < 1.4 && high > 0.6, `${low} to ${high}`);
  });

  test("names the target of a mistake, and what it does not go with, before it sends anything", LIMIT, async () => {
    const wrong = writeScenario(
      "wrong",
      `ab(${at("10")}, http("${server.url}/10", { method: "FETCH" as never }))`,
      "repeat: 2,",
    );
    const { code, stderr } = await runRampart(["run", wrong, "--url", "localhost:1", "--records", join(folder, "x")]);
    assert.equal(code, 64);
    assert.match(stderr, /target\.b\.method/);
    assert.match(stderr, /repeat: ab\(…\) already repeats each target/);
    assert.match(stderr, /--url: ab\(…\) has two targets/);
    assert.match(stderr, /--records: cannot hold/);
    const options = writeScenario("options", `ab(${at("10")}, ${at("10")}, { pairs: 1, names: ["x", "x"] })`);
    const refused = await runRampart(["run", options]);
    assert.match(refused.stderr, /target\.pairs: must be 2 or more/);
    assert.match(refused.stderr, /target\.names: must be two different names/);
    assert.equal(paths.length, 0);
  });

  test("shows both plans, and says how long it takes", LIMIT, async () => {
    const file = writeScenario("planned", `ab(${at("10")}, ${at("20")}, { pairs: 2 })`);
    const { stdout } = await runRampart(["run", file, "--dry-run"]);
    const timed = await runRampart(["run", file, "--for", "200ms", "--dry-run"]);
    const { expectedTime } = JSON.parse(timed.stdout) as { readonly expectedTime: object };
    assert.deepEqual(expectedTime, { leastMs: 1600, mostMs: 1600 });
    const shown = JSON.parse(stdout) as {
      readonly order: readonly string[];
      readonly plans: readonly { readonly target: { readonly path: string } }[];
    };
    assert.deepEqual(
      shown.plans.map(({ target }) => target.path),
      ["/10", "/20"],
    );
    assert.deepEqual(shown.order, ["a", "b", "b", "a"]);
    const { stderr } = await runRampart(["run", file, "--for", "200ms"]);
    assert.match(stderr, /4 blocks: a b b a, expected to take 1.6 s at most/);
  });
});
