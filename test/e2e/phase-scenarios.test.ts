import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { readCsv } from "../report/read-csv.ts";
import { runRampart } from "./command.ts";

/** The scenarios of several phases, run as users run them. */

const folder = makeFolder();

interface Check {
  readonly text: string;
  readonly isMet: boolean;
  readonly latencyChange?: { readonly ratio: number; readonly lowRatio: number; readonly highRatio: number };
  readonly recoverySec?: number | null;
}

interface Delivery {
  readonly unit: string;
  readonly level?: number;
  readonly asked: number | null;
  readonly delivered: number;
  readonly isDelivered: boolean | null;
}

interface Report {
  readonly requests: { readonly completed: number; readonly failed: number };
  readonly error?: { readonly code: string };
  readonly phases: readonly {
    readonly name: string;
    readonly isWarmup?: boolean;
    readonly completed: number;
    readonly failed: number;
    readonly load: readonly Delivery[];
    readonly checks: readonly Check[];
  }[];
  readonly afterPhases: { readonly completed: number; readonly failed: number };
  readonly timeline: readonly { readonly completed: number }[];
  readonly levels: readonly {
    readonly phase: { readonly name: string };
    readonly completed: number;
    readonly load: Delivery;
  }[];
}

async function run(name: string, ...args: string[]) {
  const [json, csv] = [join(folder, `${name}.json`), join(folder, `${name}.csv`)];
  const outcome = await runRampart(["run", `scenarios/${name}.ts`, "--json", json, "--csv", csv, ...args]);
  const report = JSON.parse(readFileSync(json, "utf8")) as Report;
  return { ...outcome, report, csv: readFileSync(csv, "utf8") };
}

/** What the report says of phases adds up to what it says of the run. */
function checkSums({ requests, phases, afterPhases, timeline, levels }: Report): void {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  assert.equal(sum(phases.map(({ completed }) => completed)) + afterPhases.completed, requests.completed);
  assert.equal(sum(phases.map(({ failed }) => failed)) + afterPhases.failed, requests.failed);
  for (const { name, load, isWarmup } of phases) {
    const own = levels.filter(({ phase }) => phase.name === name);
    assert.deepEqual(
      load.map(({ level: _, ...delivery }) => delivery),
      own.map((level) => level.load),
    );
    assert.equal(load.length > 0, isWarmup !== true, `the load of ${name}`);
  }
  assert.equal(sum(timeline.map((bucket) => bucket.completed)), requests.completed);
}

describe("scenarios/soak.ts", () => {
  test("says how much latency and throughput drifted, and passes when that is little", async () => {
    const { code, report, stdout, stderr } = await run(
      "soak",
      "--set",
      "maxDrift=10000%",
      "--set",
      "time=4s",
      "--set",
      "limit=1min",
    );
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    checkSums(report);
    assert.deepEqual(
      report.phases.map(({ name, isWarmup, checks }) => [name, isWarmup === true, checks.length]),
      [
        ["warm-up", true, 0],
        ["soak", false, 1],
      ],
    );
    const [check] = report.phases[1]?.checks ?? [];
    const { lowRatio = Number.NaN, ratio = Number.NaN, highRatio = Number.NaN } = check?.latencyChange ?? {};
    assert.ok(lowRatio <= ratio && ratio <= highRatio, JSON.stringify(check));
    assert.match(stderr, /phase 1 of 2, warm-up: warming up at concurrency 4/);
    assert.match(stdout, /pass\s+drift .* 10,?000 % for the worse/);
  });

  test("ends early when the server breaks", async () => {
    // No latency is below 1 us, so the assertion breaks as soon as it is judged.
    const { code, report, stdout, stderr } = await run("soak", "--set", "time=1min", "--set", "limit=1us");
    assert.equal(code, 65, `${stdout}\n${stderr}`);
    assert.equal(report.error?.code, "assertion-failed");
    checkSums(report);
    assert.match(stderr, /the run ended early: "p99 latency < 1 us" .* 1 s, with /);
    assert.match(stdout, /FAIL\s+p99 latency < 1 us/);
    assert.match(stdout, /over the last 1 s, which\s+ended the run/);
  });
});

test("scenarios/spike.ts says when the latency was back", async () => {
  const { code, report, stdout, stderr, csv } = await run("spike", "--set", "recoverWithin=1500ms");
  checkSums(report);
  assert.deepEqual(
    report.levels.map(({ phase }) => phase.name),
    ["base", "peak", "recovery"],
  );
  const [check] = report.phases[2]?.checks ?? [];
  assert.equal(code, check?.isMet === true ? 0 : 65, `${stdout}\n${stderr}`);
  assert.equal(check?.isMet, typeof check?.recoverySec === "number" && check.recoverySec <= 1.5);
  assert.deepEqual(
    report.phases.map(({ load: [load] }) => [load?.unit, load?.asked]),
    [4, 64, 4].map((asked) => ["concurrency", asked]),
  );
  assert.match(stdout, /^base: concurrency 4 +\S/m);
  const [levels = []] = readCsv(csv);
  assert.deepEqual(
    levels.map(({ level }) => level),
    ["base: concurrency 4", "peak: concurrency 64", "recovery: concurrency 4"],
  );
});
