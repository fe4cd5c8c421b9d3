import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { findMetric } from "../../../../src/measure/metrics/metric-names.ts";
import { UserError } from "../../../../src/plan/problem.ts";
import { maskText } from "../../../../src/plan/secrets.ts";
import { toReportJson } from "../../../../src/report/json/report-json.ts";
import { listFacts } from "../../../../src/report/read/runs/foreign-metrics.ts";
import type { MeasuredRun } from "../../../../src/report/read/runs/measured-run.ts";
import { readRuns } from "../../../../src/report/read/runs/read-runs.ts";
import { REPORT_VERSION } from "../../../../src/report/schema/report-schema.ts";
import { makeFolder, writeIn } from "../../../make-folder.ts";
import { makeDelta, makeWindow } from "../../../measure/make-window.ts";
import { makePlan } from "../../../plan/make-plan.ts";
import { makeLevel, makeResult } from "../../make-result.ts";

/** Runs read from reports of Rampart and of other tools. The files of the others are real ones, shortened. */

const FIXTURES = join(import.meta.dirname, "fixtures");
const folder = makeFolder();

const fixture = (name: string): string => join(FIXTURES, name);
const write = (name: string, text: string): string => {
  return writeIn(folder, name, text);
};
const valuesOf = (run: MeasuredRun | undefined, level = 0): Record<string, number> =>
  Object.fromEntries([...(run?.levels[level]?.values ?? [])].map(([name, { value }]) => [name, value]));

function readOnly(path: string): MeasuredRun {
  const [run, ...more] = readRuns(path);
  assert.equal(more.length, 0);
  assert.ok(run !== undefined);
  for (const name of run.levels.flatMap(({ values }) => [...values.keys()])) assert.ok(findMetric(name), name);
  return run;
}

function assertNear(actual: Record<string, number>, expected: Record<string, number>): void {
  for (const [name, value] of Object.entries(expected)) {
    const found = actual[name];
    const isNear = found !== undefined && Math.abs(found - value) <= 1e-9 * Math.abs(value);
    assert.ok(isNear, `${name}: ${found} is not ${value}`);
  }
}

test("AIPerf's JSON has times in nanoseconds, its load from the phase that counts, and no warm-up", () => {
  const run = readOnly(fixture("aiperf.json"));
  assert.equal(run.format, "AIPerf's JSON");
  assert.deepEqual(
    run.levels.map(({ label }) => label),
    ["concurrency 2"],
  );
  assert.equal(run.facts.get("model"), "tiny");
  assert.equal(run.facts.get("endpoint.streaming"), "true");
  assert.ok(![...run.facts.keys()].some((path) => path.startsWith("artifacts")));
  assertNear(valuesOf(run), {
    throughput: 7.77812,
    errorRate: 0,
    "latency.mean": 250.891e6,
    "latency.p99": 272.953e6,
    "scheduledLatency.mean": 253.155e6,
    "timeToFirstToken.mean": 52.0675e6,
    outputTokensPerSec: 162.563,
    "outputTokens.mean": 20.9,
  });
});

test("AIPerf's failures are those of all requests, and a cancelled run is partial", () => {
  const document = JSON.parse(readFileSync(fixture("aiperf.json"), "utf8")) as object;
  const path = write(
    "failed.json",
    JSON.stringify({ ...document, error_request_count: { avg: 5 }, was_cancelled: true }),
  );
  const run = readOnly(path);
  assert.equal(run.isPartial, true);
  assert.equal(valuesOf(run)["errorRate"], 0.2);
});

test("GenAI-Perf's JSON has its load and model from its configuration", () => {
  const run = readOnly(fixture("genai-perf.json"));
  assert.equal(run.format, "GenAI-Perf's JSON");
  assert.equal(run.levels[0]?.label, "concurrency 2");
  assert.equal(run.facts.get("model"), "tiny");
  assert.equal(run.facts.get("perf_analyzer.stimulus.concurrency"), "2");
  const values = valuesOf(run);
  assertNear(values, { throughput: 8.37522, "timeToFirstToken.p99": 51.4316e6 });
  assert.ok((values["interTokenLatency.mean"] ?? 0) > 9e6 && (values["latency.p99"] ?? 0) > 200e6);
});

test("perf_analyzer's CSV has a level per row, by load, whose times are in microseconds", () => {
  const run = readOnly(fixture("perf-analyzer.csv"));
  assert.deepEqual(
    run.levels.map(({ label }) => label),
    ["concurrency 1", "concurrency 3", "concurrency 5", "concurrency 7"],
  );
  assert.deepEqual(valuesOf(run, 2), {
    throughput: 139.81,
    serverQueue: 18306e3,
    serverComputeInput: 14e3,
    serverComputeInfer: 13611e3,
    serverComputeOutput: 71e3,
    "latency.p50": 27502e3,
    "latency.p90": 58304e3,
    "latency.p95": 82432e3,
    "latency.p99": 194834e3,
  });
});

test("a CSV of Rampart with rates, means and tokens", () => {
  const header =
    "Request Rate,Inferences/Second,Client Send,p50 latency,Avg latency,Output Tokens/Second,p99 Time To First Token";
  const run = readOnly(write("own.csv", `${header}\n12.5,12.4,3,1000,1100,250,40\n25,24.8,3,,1200,,\n`));
  assert.deepEqual(
    run.levels.map(({ label }) => label),
    ["12.5 requests/s", "25 requests/s"],
  );
  assert.deepEqual(valuesOf(run), {
    throughput: 12.4,
    "latency.p50": 1e6,
    "latency.mean": 1.1e6,
    outputTokensPerSec: 250,
    "timeToFirstToken.p99": 40e3,
  });
  assert.deepEqual(valuesOf(run, 1), { throughput: 24.8, "latency.mean": 1.2e6 });
});

test("a profile export has the percentiles of its requests, with intervals", () => {
  const requests = Array.from({ length: 200 }, (_, index) => {
    const sent = 1_700_000_000_000_000_000n + BigInt(index) * 10_000_000n;
    const end = sent + BigInt(1_000_000 + ((index * 37) % 200) * 1000);
    return `{"timestamp":${sent},"request_inputs":{},"response_timestamps":[${sent + 500_000n},${end}],"response_outputs":[{},{}]}`;
  });
  const experiment = '{"experiment":{"mode":"request_rate","value":100.0}';
  const path = write(
    "export.json",
    `{"experiments":[${experiment},"requests":[${requests.join(",")}],"window_boundaries":[]}],"version":"0.0.0","service_kind":"triton","endpoint":""}`,
  );
  const run = readOnly(path);
  assert.equal(run.levels[0]?.label, "100 requests/s");
  const durationSec = 199 * 0.01 + 0.001 + ((199 * 37) % 200) * 1e-6;
  assertNear(valuesOf(run), {
    throughput: 200 / durationSec,
    responsesPerSec: 400 / durationSec,
    "latency.mean": 1_099_500,
    "latency.p50": 1_100_000,
    "firstResponse.p90": 500_000,
  });
  const median = run.levels[0]?.values.get("latency.p50");
  assert.ok((median?.low ?? 9e9) < 1_099_500 && (median?.high ?? 0) > 1_099_500);
});

describe("Rampart's JSON", () => {
  const plan = makePlan();
  const window = makeWindow({
    latenciesNs: Array.from({ length: 300 }, (_, index) => 1e6 + index * 1e3),
    scheduledNs: Array.from({ length: 300 }, (_, index) => 2e6 + index * 1e3),
    failedCount: 100,
    server: makeDelta(300),
  });
  const level = makeLevel({ level: 4, window, outcome: "unstable" });
  const document = toReportJson(plan, makeResult(plan, [level])) as Record<string, unknown>;

  test("has what the report says, in nanoseconds, with its intervals", () => {
    const run = readOnly(write("one.json", JSON.stringify(document)));
    const [written] = document["levels"] as {
      metrics: {
        throughputPerSec: { value: number };
        latencyUs: { mean: number; confidence95: { mean: { low: number } } };
      };
    }[];
    assert.ok(written !== undefined);
    assert.equal(run.levels[0]?.label, "concurrency 4");
    assertNear(valuesOf(run), {
      throughput: written.metrics.throughputPerSec.value,
      errorRate: 0.25,
      "latency.mean": written.metrics.latencyUs.mean * 1000,
      "scheduledLatency.p50": 2_150_000,
    });
    assertNear(
      { low: run.levels[0]?.values.get("latency.mean")?.low ?? 0 },
      { low: written.metrics.latencyUs.confidence95.mean.low * 1000 },
    );
    const bounds = run.levels[0]?.values.get("errorRate");
    assert.ok((bounds?.low ?? 1) < 0.25 && (bounds?.high ?? 0) > 0.25);
    // What the report warns of, in its words.
    assert.equal(run.levels[0]?.notes, undefined);
    const { notes } = document as { notes: { severity: string; text: string }[] };
    assert.deepEqual(
      run.notes,
      notes.filter(({ severity }) => severity !== "detail").map(({ text }) => text),
    );
    assert.notDeepEqual(run.notes, []);
    assert.ok(run.facts.has("load.kind") && run.facts.has("model"));
    assert.ok(![...run.facts.keys()].some((path) => /^(name|outputs|assertions)/.test(path)));
  });

  test("of a repeated plan has several runs, and says which ended early", () => {
    const { version, name, model, plan: shared, notes, ...run } = document;
    const head = { version, name, model, plan: shared, notes };
    const runs = [run, { ...run, isPartial: true }];
    const read = readRuns(write("several.json", JSON.stringify({ ...head, runs })));
    assert.deepEqual(
      read.map(({ source, isPartial }) => [source.slice(folder.length + 1), isPartial]),
      [
        ["several.json, run 1", false],
        ["several.json, run 2", true],
      ],
    );
  });

  test("of a search has the highest load as a level of its own", () => {
    const read = (highest: number | null, isResolved: boolean) =>
      readOnly(
        write("search.json", JSON.stringify({ ...document, findMax: { limits: [], highest, next: 9, isResolved } })),
      );
    const found = read(8, true);
    assert.deepEqual(
      found.levels.map(({ label, notes = [] }) => [/^search|concurrency 4$/.exec(label)?.[0], notes.length]),
      [
        ["search", 0],
        ["concurrency 4", 0],
      ],
    );
    assert.deepEqual(valuesOf(found), { highestLoad: 8 });
    const open = read(8, false);
    assert.deepEqual([valuesOf(open), open.levels[0]?.notes], [{}, ["the highest load is not resolved"]]);
    const lost = read(null, false);
    assert.deepEqual(valuesOf(lost), {});
    assert.deepEqual(lost.levels[0]?.notes, ["no load kept the limits", "the highest load is not resolved"]);
  });

  test("of levels with phases and groups names both, so that only equal ones are compared", () => {
    const [one] = document["levels"] as Record<string, unknown>[];
    const groups = [
      { ...one, tags: { model: "a" } },
      { ...one, tags: { model: null } },
    ];
    const levels = [{ ...one, phase: { index: 1, name: "hold" }, groups }];
    const run = readOnly(write("groups.json", JSON.stringify({ ...document, levels })));
    assert.deepEqual(
      run.levels.map(({ label }) => label),
      [
        "phase 2, hold, concurrency 4",
        "phase 2, hold, concurrency 4, model a",
        "phase 2, hold, concurrency 4, model (none)",
      ],
    );
  });
});

describe("a folder", () => {
  test("has the runs of its best format, because other files can be of the same runs", () => {
    const own = join(folder, "best");
    mkdirSync(own);
    cpSync(fixture("genai-perf.json"), join(own, "profile_export_genai_perf.json"));
    cpSync(fixture("perf-analyzer.csv"), join(own, "results.csv"));
    writeFileSync(join(own, "inputs.json"), '{"data": []}');
    assert.equal(readOnly(own).format, "GenAI-Perf's JSON");
  });

  test("without a report has those of its folders, without phases and means", () => {
    const own = join(folder, "artifacts");
    for (const name of ["run_1", "run_2", "run_2/phases", "aggregate"]) {
      mkdirSync(join(own, name), { recursive: true });
      cpSync(fixture("aiperf.json"), join(own, name, "profile_export_aiperf.json"));
    }
    const sources = readRuns(own).map(({ source }) => source.slice(own.length + 1).replaceAll("\\", "/"));
    assert.deepEqual(sources, ["run_1/profile_export_aiperf.json", "run_2/profile_export_aiperf.json"]);
  });
});

describe("a file that is not a report", () => {
  const header = "Concurrency,Inferences/Second,p50 latency";
  for (const [name, text, message] of [
    ["empty.json", "", /empty\.json: is empty\. Give the JSON report of a run, or a folder of them\.$/],
    ["other.json", '{"a": 1}', /other\.json: is JSON but not a report: it has no version, a\. Give the JSON report/],
    [
      "many.json",
      '{"schema_version": "1.2", "a": 1, "b": 1, "c": 1, "d": 1, "e": 1}',
      /many\.json: is JSON but not a report: it has schema_version "1\.2", a, b, c, d, …\. Give/,
    ],
    ["list.json", "[1]", /list\.json: is not a report; it begins with "\[1\]"\. Give/],
    ["cut.json", '{"version": 1, "levels": [', /cut\.json: is not JSON: .*The file may be cut off/],
    ["cut-export.json", '{"experiments":[{"experiment":', /cut-export\.json/],
    [
      "broken.json",
      `{"version":${REPORT_VERSION},"model":{"name":"a","version":""},"plan":{},"notes":[],"startedAt":"2026-01-01T00:00:00Z","isPartial":false,"levels":[{"unit":"concurrency","level":"x","metrics":{}}]}`,
      /broken\.json: was written by another build of Rampart, or edited: levels\[0\]\.level has a wrong value: .*\. Use the/,
    ],
    [
      "no-model.json",
      `{"version":${REPORT_VERSION},"plan":{},"levels":[]}`,
      /no-model\.json: was written by another build of Rampart, or edited: model is missing\. Use the Rampart that wrote it/,
    ],
    [
      "without-plan.json",
      '{"version":1,"levels":[]}',
      /without-plan\.json: is a report of version 1, and this Rampart/,
    ],
    [
      "earlier.json",
      '{"version":2,"plan":{},"levels":[]}',
      /earlier\.json: is a report of version 2, and this Rampart reads version 4\. Use the Rampart that wrote it/,
    ],
    ["short.csv", `${header}\n1,2\n`, /short\.csv, line 2: has 2 cells, and the header has 3/],
    ["text.csv", `${header}\n1,fast,3\n`, /text\.csv, line 2: Inferences\/Second is not a number \(got fast\)/],
    ["no-rows.csv", `${header}\n`, /no-rows\.csv: has no level/],
    [
      "means.json",
      '{"aiperf_version":"0.13.0","metadata":{},"metrics":{}}',
      /means\.json: has the means of several runs of AIPerf/,
    ],
  ] as const)
    test(`${name} is one clear error that names it`, () => {
      const path = write(name, text);
      assert.throws(
        () => readRuns(path),
        (error) => error instanceof UserError && error.problems.length === 1 && message.test(error.message),
      );
    });

  test("a missing file, and a folder without reports", () => {
    assert.throws(() => readRuns(join(folder, "nothing.json")), /nothing\.json: cannot be read: .*\. Give/);
    const empty = join(folder, "empty");
    mkdirSync(empty);
    assert.throws(() => readRuns(empty), /empty: has no report that can be read/);
  });
});

/** A line of a file of records. @param endMs of the request, which takes 10 ms */
function recordLine(endMs: number, metadata: object, others: object = {}): string {
  const start = 1_700_000_000_000_000_000n + BigInt((endMs - 10) * 1e6);
  const times = `"request_start_ns":${start},"request_end_ns":${start + 10_000_000n}`;
  const rest = JSON.stringify({ benchmark_phase: "profiling", ...metadata }).slice(1);
  const line = { metrics: { request_latency: { value: 10, unit: "ms" } }, ...others };
  return `{"metadata":{${times},${rest},${JSON.stringify(line).slice(1)}\n`;
}

test("a file of records has the requests in windows, by run and level, with their failures", () => {
  const inLevel = { concurrency: 2, window: 1 };
  const error = { error: { type: "http", message: "503" }, metrics: {} };
  const lines = [
    recordLine(5, { ...inLevel, benchmark_phase: "warmup", run: 1 }),
    recordLine(20, { concurrency: 2, run: 1 }),
    ...Array.from({ length: 99 }, (_, at) => recordLine(100 + 10 * at, { ...inLevel, run: 1 })),
    recordLine(1090, { ...inLevel, run: 1 }, error),
    recordLine(1090, { ...inLevel, run: 1, was_cancelled: true }, error),
    recordLine(2000, { concurrency: 4, run: 1 }),
    recordLine(3000, { ...inLevel, run: 2 }),
  ];
  const runs = readRuns(write("many.jsonl", lines.join("")));
  assert.deepEqual(
    runs.map(({ source, levels }) => [source.replace(/.*, /, ""), levels.map(({ label }) => label)]),
    [
      ["run 1", ["concurrency 2", "concurrency 4"]],
      ["run 2", ["concurrency 2"]],
    ],
  );
  const values = valuesOf(runs[0]);
  assertNear(values, { "latency.mean": 10e6, "latency.p99": 10e6, errorRate: 0.01 });
  // Times since 1970 are exact to 256 ns.
  assert.ok(Math.abs((values["throughput"] ?? 0) - 99) < 0.001, `${values["throughput"]}`);
  assertNear(valuesOf(runs[0], 1), { errorRate: 0 });
});

test("a file of records that is cut off in a line names the line", () => {
  const text = recordLine(20, { concurrency: 2 }).repeat(3);
  const path = write("cut.jsonl", text.slice(0, -10));
  assert.throws(
    () => readRuns(path),
    (error) => error instanceof UserError && /cut\.jsonl, line 3: is not JSON/.test(error.message),
  );
  assert.throws(() => readRuns(write("other.jsonl", '{"metadata":{},"metrics":{}}\n')), /other\.jsonl, line 1/);
});

/** What was measured, as paths and values. */

test("plain data is listed by paths, lists of plain values as one", () => {
  const data = { a: { b: "text", c: [1, "x"], d: null, e: [{ f: true }] }, g: 1, skipped: { h: 2 }, gone: undefined };
  assert.deepEqual(
    [...listFacts(data, new Set(["skipped"]))],
    [
      ["a.b", "text"],
      ["a.c", '[1,"x"]'],
      ["a.d", "null"],
      ["a.e.0.f", "true"],
      ["g", "1"],
    ],
  );
  assert.equal(listFacts(undefined).size, 0);
});

test("keys, headers and logins of a file are masked from then on", () => {
  const data = {
    endpoint: {
      api_key: "key-of-endpoint-1",
      headers: { Authorization: "Bearer bearer-of-header-2" },
      header: ["X-Api-Key: key-of-list-3", "X-Trace: visible-value-4"],
      url: "http://user:login-password-5@host:1",
    },
    output_tokens_mean: "visible-value-6",
  };
  const shown = maskText(JSON.stringify([...listFacts(data)]));
  for (const secret of ["key-of-endpoint-1", "bearer-of-header-2", "key-of-list-3", "login-password-5"])
    assert.ok(!shown.includes(secret), secret);
  for (const value of ["visible-value-4", "visible-value-6"]) assert.ok(shown.includes(value), value);
});
