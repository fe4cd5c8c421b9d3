import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../src/plan/messages.ts";
import type { MockPlan } from "../../src/plan/mock.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { UserError } from "../../src/plan/problem.ts";
import { NO_TRACE } from "../../src/plan/telemetry.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { INPUT_KINDS } from "../../src/registry/input-kinds.ts";
import { LOAD_MODES } from "../../src/registry/load-modes.ts";
import { SERVICE_KINDS, TARGETS } from "../../src/registry/service-kinds.ts";
import { makePlan, rateLoad } from "../plan/make-plan.ts";

/** Where a plan is wrong. It may be any value: untyped callers bring what they like. */
function pathsOf(plan: unknown): string[] {
  try {
    checkPlan(plan as Plan);
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    for (const { message, hint, path } of error.problems) {
      assert.notEqual(message, "", word(path));
      assert.ok(hint !== "" || /\bmust\b|needs/.test(word(message)), word(path));
    }
    return error.problems.map(({ path }) => word(path)).sort();
  }
  return [];
}

/** The plan with one value replaced; the path's parts are separated by dots. */
function withValue(path: string, value: unknown): unknown {
  const plan = structuredClone(makePlan()) as unknown as Record<string, unknown>;
  const keys = path.split(".");
  let holder = plan;
  for (const key of keys.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  holder[keys.at(-1) as string] = value;
  return plan;
}

/** A plan with levels of 1 to a number. */
function withLevelsTo(end: number, latencyLimitMs: number | null = null): Plan {
  const levels = { kind: "range", start: 1, end, step: 1 } as const;
  return makePlan({ load: { kind: "concurrency", levels, search: "linear" }, measurement: { latencyLimitMs } });
}

test("a sound plan has no problems", () => assert.deepEqual(pathsOf(makePlan()), []));

const sound: readonly (readonly [path: string, value: unknown])[] = [
  ["load", rateLoad([0.1], "poisson")],
  ["load", { kind: "concurrency-ramp", start: 1, end: 9, overMs: 100 }],
  ["load", { kind: "intervals", file: "gaps.txt" }],
  ["inputs", { kind: "zero", stringLength: 1, stringData: "x" }],
  ["inputs", { kind: "json", files: ["a", "b"] }],
  ["inputs", { kind: "directory", directory: "d" }],
  ["measurement.mode", { kind: "time-windows", windowMs: 0.5, stabilityPct: 0, maxTrials: 1 }],
  ["measurement.mode", { kind: "count-windows", requestsPerWindow: 1, stabilityPct: 10, maxTrials: 3 }],
  ["measurement.mode", { kind: "duration", durationMs: 1 }],
  ["measurement.mode", { kind: "duration", durationMs: 1, graceMs: 0 }],
  ["measurement.warmupMs", 0.5],
  ["cancellation", { sharePct: 100, delayMs: 0, seed: -1 }],
  ["target.moreUrls", ["b:1", "c:2"]],
  ["measurement.percentile", 99.9],
  ["failures.maxRatio", 1],
  ["telemetry.metrics", { url: "host:1/metrics", intervalMs: 0.5 }],
  ["telemetry.trace", { file: "f", levels: ["TIMESTAMPS"], rate: 0, count: -1, logFrequency: 0 }],
  ["telemetry.trace", { file: null, levels: null, rate: null, count: null, logFrequency: null }],
  [
    "target",
    {
      kind: "embedded",
      protocol: "grpc",
      isStreaming: false,
      batchSize: 8,
      mock: { latency: { kind: "uniform", minMs: 0, maxMs: 5 }, errorRatio: 0.5, responseBytes: 10 },
    },
  ],
  ["assertions", [{ metric: { key: "throughput" }, comparison: "above", limit: 5 }]],
];

for (const [path, value] of sound)
  test(`accepted: ${path} ${JSON.stringify(value)}`, () => assert.deepEqual(pathsOf(withValue(path, value)), []));

const unsound: readonly (readonly [path: string, value: unknown, reported?: string])[] = [
  ["version", 2],
  ["name", ""],
  ["target.kind", "grpc"],
  ["target.url", ""],
  ["target.protocol", "ftp"],
  ["target.model", ""],
  ["target.batchSize", 0],
  ["target.batchSize", 1.5],
  ["target.batchSize", "4"],
  ["target.isStreaming", true],
  ["target.headers", [["bad name", "x"]], "target.headers.0.0"],
  ["target.shapes", { IN: [0] }, "target.shapes.IN.0"],
  ["target.sharedMemory", "gpu", "target.sharedMemory"],
  ["target.outputSharedMemoryBytes", -1, "target.outputSharedMemoryBytes"],
  ["target.parameters", { n: { type: "int", value: "1" } }],
  ["target.compression", "gzip"],
  ["target.compression", "lz4"],
  ["target.parameters", { n: { type: "float", value: "1" } }, "target.parameters.n.type"],
  ["target.tls.verifyPeer", "yes"],
  ["target.tls.keyType", "P12"],
  ["load.kind", "spikes"],
  ["load.kind", "toString"],
  ["load", undefined, "load.kind"],
  ["load.levels.values", [], "load.levels.values"],
  ["load.levels.values", [1, 0], "load.levels.values.1"],
  ["load.search", "random"],
  ["inputs.kind", "guess"],
  ["inputs.stringLength", 0],
  ["measurement.mode.kind", "forever"],
  ["measurement.mode.count", 0],
  ["measurement.warmupRequests", -1],
  ["measurement.warmupMs", -1],
  ["target.moreUrls", "b:1"],
  ["measurement.percentile", 100],
  ["measurement.percentile", 0],
  ["measurement.latencyLimitMs", 0],
  ["client.kind", "curl"],
  ["client.callMode", "both"],
  ["client.maxLanes", 0],
  ["client.stallTimeoutMs", 0],
  ["client.maxResponseBytes", 0],
  ["client.maxResponseBytes", 2 ** 31],
  ["client.isMpi", "yes"],
  ["failures.maxRatio", 1.01],
  ["failures.maxRatio", -0.1],
  ["assertions", [{ metric: { key: "throughput" }, comparison: "over", limit: 5 }], "assertions.0.comparison"],
  ["assertions", [{ metric: { kind: "luck" }, comparison: "is", limit: 5 }], "assertions.0.metric.key"],
  ["assertions", [{ metric: { key: "x", statistic: 99 }, comparison: "is", limit: 5 }], "assertions.0.metric.key"],
  ["telemetry", undefined, "telemetry"],
  ["telemetry.metrics", { url: "ftp://host", intervalMs: 1 }, "telemetry.metrics.url"],
  ["telemetry.metrics", { url: "host", intervalMs: 0 }, "telemetry.metrics.intervalMs"],
  [
    "telemetry.trace",
    { file: null, levels: [], rate: null, count: null, logFrequency: null },
    "telemetry.trace.levels",
  ],
  [
    "telemetry.trace",
    { file: null, levels: ["ALL"], rate: null, count: null, logFrequency: null },
    "telemetry.trace.levels.0",
  ],
  ["telemetry.trace", { file: null, levels: null, rate: 1.5, count: null, logFrequency: null }, "telemetry.trace.rate"],
  ["telemetry.trace", { file: null, levels: null, rate: null, count: -2, logFrequency: null }, "telemetry.trace.count"],
  ["outputs.style", "xml"],
  ["outputs.verbosity", 3],
  ["outputs.files.csv", null],
  ["outputs", undefined, "outputs"],
];

for (const [path, value, reported = path] of unsound)
  test(`refused: ${path} ${JSON.stringify(value)}`, () =>
    assert.deepEqual(pathsOf(withValue(path, value)), [reported]));

test("all problems of all parts are reported together", () => {
  const plan = withValue("target.batchSize", 0) as { load: unknown; inputs: unknown; client: unknown; name: string };
  plan.load = { kind: "concurrency", levels: { kind: "list", values: [0] }, search: "never" };
  plan.inputs = { kind: "nowhere" };
  plan.client = { kind: "own", callMode: "sync", maxLanes: 0, stallTimeoutMs: -1, isMpi: false };
  plan.name = "";
  assert.deepEqual(pathsOf(plan), [
    "client.maxLanes",
    "client.stallTimeoutMs",
    "inputs.kind",
    "load.levels.values.0",
    "load.search",
    "name",
    "target.batchSize",
  ]);
});

test("an unknown kind is reported with the known ones", () => {
  for (const [path, table] of [
    ["load.kind", LOAD_MODES],
    ["inputs.kind", INPUT_KINDS],
    ["target.kind", TARGETS],
  ] as const) {
    assert.throws(
      () => checkPlan(withValue(path, "none of them") as Plan),
      (error: unknown) => {
        assert.ok(error instanceof UserError);
        for (const kind of Object.keys(table)) assert.ok(word(error.problems[0]?.hint ?? "").includes(kind), kind);
        assert.equal(error.problems[0]?.value, "none of them");
        return true;
      },
    );
  }
});

/** Inputs that may have times. */
const TIMED: Plan["inputs"] = { kind: "json", files: ["data.json"] };

const MOCK: MockPlan = { latency: { kind: "constant", ms: 0 }, errorRatio: 0, responseBytes: 0 };

const together: readonly (readonly [name: string, plan: Plan, path: string])[] = [
  ["undici with gRPC", makePlan({ target: { protocol: "grpc" }, client: { kind: "undici" } }), "client.kind"],
  ["grpc-js with HTTP", makePlan({ client: { kind: "grpc-js" } }), "client.kind"],
  [
    "traces of the embedded target",
    {
      ...makePlan({ telemetry: { metrics: null, trace: { ...NO_TRACE, rate: 1 } } }),
      target: { kind: "embedded", protocol: "http", isStreaming: false, batchSize: 1, mock: MOCK },
    },
    "telemetry.trace",
  ],
  [
    "a warm-up ahead of a fixed schedule",
    makePlan({
      load: { kind: "fixed-schedule" },
      inputs: TIMED,
      measurement: { mode: { kind: "requests", count: null }, warmupRequests: 1 },
    }),
    "measurement.warmupRequests",
  ],
  [
    "a warm-up by time ahead of a fixed schedule",
    makePlan({
      load: { kind: "fixed-schedule" },
      inputs: TIMED,
      measurement: { mode: { kind: "requests", count: null }, warmupMs: 1 },
    }),
    "measurement.warmupMs",
  ],
  [
    "a share of requests to give up beyond all",
    makePlan({ cancellation: { sharePct: 101, delayMs: 0, seed: 0 } }),
    "cancellation.sharePct",
  ],
  [
    "a grace period of less than nothing",
    makePlan({ measurement: { mode: { kind: "duration", durationMs: 1, graceMs: -1 } } }),
    "measurement.mode.graceMs",
  ],
  ["an empty address", makePlan({ target: { moreUrls: [""] } }), "target.moreUrls.0"],
  [
    "memory shared with several servers",
    makePlan({ target: { moreUrls: ["b:1"], sharedMemory: "system" } }),
    "target.url",
  ],
  [
    "a fixed schedule of so many requests",
    makePlan({ load: { kind: "fixed-schedule" }, inputs: TIMED }),
    "measurement.mode.count",
  ],
  [
    "a synchronous stream",
    makePlan({ target: { protocol: "grpc", isStreaming: true }, client: { callMode: "sync" } }),
    "client.callMode",
  ],
  [
    "a binary search without a limit",
    makePlan({ load: { kind: "concurrency", levels: { kind: "range", start: 1, end: 4, step: 1 }, search: "binary" } }),
    "measurement.latencyLimitMs",
  ],
  [
    "a range without an end or a limit",
    makePlan({
      load: { kind: "concurrency", levels: { kind: "range", start: 1, end: null, step: 1 }, search: "linear" },
    }),
    "load.levels.end",
  ],
  ["more levels than a run can have", withLevelsTo(10_001), "load"],
];

for (const [name, plan, path] of together)
  test(`parts that do not go together: ${name}`, () => assert.deepEqual(pathsOf(plan), [path]));

test("as many levels as a run can have, or more where a latency limit may end it, are accepted", () => {
  assert.deepEqual(pathsOf(withLevelsTo(10_000)), []);
  assert.deepEqual(pathsOf(withLevelsTo(1_000_000, 25)), []);
});

test("a plan survives being printed as JSON and read again", () => {
  const plan = makePlan({ measurement: { latencyLimitMs: 5, percentile: 99 } });
  const read = JSON.parse(JSON.stringify(plan)) as Plan;
  assert.deepEqual(read, plan);
  checkPlan(read);
});

test("every service kind is a target", () => {
  for (const kind of Object.keys(SERVICE_KINDS)) assert.ok(Object.hasOwn(TARGETS, kind));
});
