import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { MetricsJson } from "../../../src/report/schema/metrics.ts";
import { createFolder, ROOT, runRampart } from "../../cli/rampart-process.ts";
import { scenarioText } from "../../cli/scenario-files.ts";
import { spreadIn, valueIn } from "../../report/json-metrics.ts";

/** `rampart run` of several targets under one load, as a process of its own: its reports by tag. */

interface Part {
  readonly tags: Readonly<Record<string, string | null>>;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled?: number;
  readonly sent: number;
  readonly load: {
    readonly asked: number | null;
    readonly delivered: number;
    readonly isDelivered: boolean | null;
  };
  readonly inFlight: { readonly mean: number };
  readonly metrics: MetricsJson;
  readonly tokens?: { readonly withContent: number };
}

interface Level extends Part {
  readonly groups?: readonly Part[];
  readonly combinations?: readonly Part[];
}

interface Report {
  readonly requests: { readonly sent: number };
  readonly servers: readonly { readonly name: string; readonly sent: number }[];
  readonly levels: readonly Level[];
  readonly assertions: readonly { readonly text: string; readonly isMet: boolean }[];
}

interface Exported {
  readonly experiments: readonly { readonly requests: readonly { readonly tags?: object }[] }[];
}

/** Numbers that parts add up to. */
function numbersOf(part: Part): number[] {
  const { completed, failed, cancelled = 0, sent, load, inFlight, tokens } = part;
  return [
    completed,
    failed,
    cancelled,
    sent,
    valueIn(part, "throughputPerSec"),
    load.delivered,
    inFlight.mean,
    spreadIn(part, "latencyUs")?.count ?? 0,
    tokens?.withContent ?? 0,
    valueIn(part, "outputTokensPerSec") || 0,
  ];
}

/** Checks that parts are the level together. */
function checkParts(level: Level, parts: readonly Part[]): void {
  const sums = parts.map(numbersOf).reduce((sum, one) => sum.map((value, at) => value + (one[at] as number)));
  for (const [at, value] of numbersOf(level).entries()) {
    const sum = sums[at] as number;
    assert.ok(Math.abs(sum - value) <= 1e-6 * Math.max(1, value), `number ${at}: ${sum}, in all ${value}`);
  }
  // The load was asked for all of them together.
  for (const { load } of parts) assert.deepEqual([load.asked, load.isDelivered], [null, null]);
  const known = parts.flatMap((part) => spreadIn(part, "latencyUs") ?? []);
  const latency = spreadIn(level, "latencyUs");
  assert.equal(Math.min(...known.map(({ min = 0 }) => min)), latency?.min);
  assert.equal(Math.max(...known.map(({ max = 0 }) => max)), latency?.max);
}

function checkGroups(level: Level | undefined, names: readonly string[]): void {
  assert.ok(level !== undefined, "a level was measured");
  const { groups = [], combinations = [] } = level;
  assert.deepEqual([...new Set(groups.flatMap(({ tags }) => Object.keys(tags)))], names);
  for (const name of names)
    checkParts(
      level,
      groups.filter(({ tags }) => name in tags),
    );
  if (names.length > 1) checkParts(level, combinations);
}

describe("rampart run of several targets", () => {
  test("runs the example: tables by tag, sums that agree, and tags of exported requests", async () => {
    using folder = createFolder({});
    const flags = ["--json", "report.json", "--profile-export-file", "export.json"];
    const file = join(ROOT, "scenarios/ab-two-models.ts");
    const { code, out, err } = await runRampart(["run", file, ...flags], { cwd: folder.path });
    assert.ok(code === 0 || code === 65, out + err);
    assert.match(
      out.replaceAll(/\s+/g, " "),
      /A\/B of two models: mix of current \(90 %, .*\) and candidate \(10 %, .*\)/,
    );
    for (const head of [/^ {2}target +req\/s +tokens\/s/m, /^ {2}length +req\/s +tokens\/s/m]) assert.match(out, head);
    assert.match(out, /^ {2}candidate +\d/m);
    assert.match(out, /p90 latency where length is long < 2 s/);
    const { levels, servers, requests } = JSON.parse(readFileSync(join(folder.path, "report.json"), "utf8")) as Report;
    assert.deepEqual(
      [requests.sent, servers],
      [
        400,
        [
          { name: "current", sent: 360, failed: 0 },
          { name: "candidate", sent: 40, failed: 0 },
        ],
      ],
    );
    checkGroups(levels[0], ["target", "length"]);
    const { experiments } = JSON.parse(readFileSync(join(folder.path, "export.json"), "utf8")) as Exported;
    const tags = new Set(experiments[0]?.requests.map((request) => JSON.stringify(request.tags)));
    assert.deepEqual(
      [...tags].sort(),
      ["candidate", "current"].flatMap((target) =>
        ["long", "short"].map((length) => JSON.stringify({ target, length })),
      ),
    );
  });

  test("windows until stable, levels, failures and entries without a tag have groups that add up", async () => {
    const text = scenarioText({
      target: "embedded({ latency: '2 ms', errorRate: '10 %' })",
      load: "steps([1, 4])",
      inputs: 'input.json("in.json")',
      stability: '{ window: "200 ms", within: "1000000 %" }',
      assert: "[errorRate().where({ size: 'big' }).below('90 %'), throughput().where({ size: 'big' }).below(1)]",
    });
    const entry = (value: number) => ({ INPUT0: Array(16).fill(value), INPUT1: Array(16).fill(1) });
    const data = [{ ...entry(1), tags: { size: "big" } }, { ...entry(2), tags: { size: "small" } }, entry(3)];
    using folder = createFolder({ "x.ts": text, "in.json": JSON.stringify({ data }) });
    const { code, out, err } = await runRampart(["run", "x.ts", "--json", "report.json", "--csv", "x.csv"], {
      cwd: folder.path,
    });
    assert.equal(code, 65, out + err);
    assert.match(out, /^ {2}\(no size\) +4 +\d/m);
    assert.match(out, /^ {2}FAIL +throughput where size is big < 1 /m);
    const { levels, assertions } = JSON.parse(readFileSync(join(folder.path, "report.json"), "utf8")) as Report;
    assert.equal(levels.length, 2);
    for (const level of levels) checkGroups(level, ["size"]);
    assert.deepEqual(
      levels[0]?.groups?.map(({ tags }) => tags),
      [{ size: "big" }, { size: "small" }, { size: null }],
    );
    assert.deepEqual(
      assertions.map(({ isMet }) => isMet),
      [true, false],
    );
  });

  test("an assertion on tags that no input has is an error before the load", async () => {
    const text = scenarioText({
      target: "embedded()",
      tags: "({ index }) => ({ index })",
      assert: "[errorRate().where({ index: 5 }).is(0)]",
    });
    using folder = createFolder({ "x.ts": text });
    const { code, out, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
    assert.equal(code, 64, out + err);
    assert.match(err, /assert\[0\]: .*\(got index is 5\)\. The tags are index: 0\./);
  });
});
