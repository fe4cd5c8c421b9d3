import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { OPTIONS, parseOptions } from "../../../src/cli/perf-analyzer/options/table.ts";
import { readSettings, Settings } from "../../../src/cli/perf-analyzer/settings.ts";
import { toFlags } from "../../../src/cli/perf-analyzer/to-flags.ts";
import { toPlan } from "../../../src/cli/perf-analyzer/to-plan.ts";
import type { MockPlan } from "../../../src/plan/mock.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { NO_TRACE } from "../../../src/plan/telemetry.ts";
import { DEFAULT_TLS } from "../../../src/plan/tls.ts";
import type { OpenAiTargetPlan } from "../../../src/service/openai/target.ts";
import type { TorchServeTargetPlan } from "../../../src/service/torchserve/target.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";

/** Plans written as flags: read back they are the same plan, but for what a note says. */

/** Any file that exists. */
const FILE = fileURLToPath(import.meta.url);
const MOCK: MockPlan = { latency: { kind: "constant", ms: 0 }, errorRatio: 0, responseBytes: 0 };
const STABLE = { kind: "time-windows", windowMs: 5000, stabilityPct: 10, maxTrials: 10 } as const;
const concurrency = (levels: (Plan["load"] & { kind: "concurrency" })["levels"]): Plan["load"] => ({
  kind: "concurrency",
  levels,
  search: "linear",
});
const rate = (distribution: "constant" | "poisson", start: number, end: number | null, step: number): Plan["load"] => ({
  kind: "request-rate",
  levels: { kind: "range", start, end, step },
  search: "linear",
  distribution,
  seed: 5489,
});

function readBack(args: readonly string[]): Plan {
  const { settings, problems } = readSettings(parseOptions(args));
  assert.deepEqual(problems, []);
  const built = toPlan(settings);
  assert.deepEqual(built.problems, []);
  return built.plan;
}

const inputs = (kind: "random" | "zero", stringLength: number, stringData = ""): Plan["inputs"] => ({
  kind,
  stringLength,
  stringData,
});

const cases: readonly (readonly [name: string, change: PlanChange])[] = [
  ["the default", {}],
  ["another address, version and batch", { target: { url: "host:9", modelVersion: "2", batchSize: 4 } }],
  ["gRPC at its default port", { target: { protocol: "grpc", url: "localhost:8001" } }],
  ["gRPC at the port of HTTP", { target: { protocol: "grpc", url: "localhost:8000" } }],
  ["a stream", { target: { protocol: "grpc", isStreaming: true }, client: { callMode: "async" } }],
  [
    "composing models",
    {
      target: {
        composingModels: [
          { name: "a", version: "3" },
          { name: "b", version: "" },
        ],
      },
    },
  ],
  [
    "request parameters",
    {
      target: {
        protocol: "grpc",
        url: "localhost:8001",
        parameters: { n: { type: "int", value: "-3" }, s: { type: "string", value: "a b" } },
      },
    },
  ],
  ["compression", { target: { protocol: "grpc", url: "localhost:8001", compression: "deflate" } }],
  [
    "TLS with gRPC",
    {
      target: {
        protocol: "grpc",
        url: "localhost:8001",
        tls: { ...DEFAULT_TLS, isEnabled: true, caFile: FILE, certFile: FILE, keyFile: FILE },
      },
    },
  ],
  [
    "TLS with HTTP",
    {
      target: {
        url: "https://host",
        tls: {
          isEnabled: false,
          caFile: FILE,
          certFile: FILE,
          certType: "DER",
          keyFile: FILE,
          keyType: "DER",
          verifyPeer: false,
          verifyHost: false,
        },
      },
    },
  ],
  ["shapes", { target: { shapes: { IN: [3, 224, 224], "A:B": [1] } } }],
  ["shared memory", { target: { sharedMemory: "cuda", outputSharedMemoryBytes: 4096 } }],
  [
    "headers",
    {
      target: {
        headers: [
          ["x-a", "1"],
          ["authorization", "Bearer a b"],
        ],
      },
    },
  ],
  ["tensors as JSON", { target: { inputTensorFormat: "json", outputTensorFormat: "json" } }],
  ["tensors that are binary for any server", { target: { binaryTensors: ["input"] } }],
  ["one level", { load: concurrency({ kind: "list", values: [16] }) }],
  ["a range", { load: concurrency({ kind: "range", start: 1, end: 50, step: 7 }), measurement: { mode: STABLE } }],
  ["a range of one level", { load: concurrency({ kind: "range", start: 3, end: 3, step: 1 }) }],
  [
    "a range without an end, on a stream",
    {
      target: { protocol: "grpc", isStreaming: true },
      client: { callMode: "async" },
      load: concurrency({ kind: "range", start: 1, end: null, step: 2 }),
      measurement: { mode: STABLE, latencyLimitMs: 25 },
    },
  ],
  ["a rate", { load: rate("constant", 10, 20.5, 0.5), measurement: { mode: STABLE }, client: { callMode: "async" } }],
  [
    "a Poisson rate",
    { load: rate("poisson", 10, 100, 10), measurement: { mode: STABLE }, client: { callMode: "async" } },
  ],
  [
    "a rate of lanes that wait",
    { load: rate("constant", 10, 20, 1), measurement: { mode: STABLE }, client: { callMode: "sync" } },
  ],
  [
    "a search",
    {
      load: { kind: "concurrency", levels: { kind: "range", start: 1, end: 64, step: 1 }, search: "binary" },
      measurement: { mode: STABLE, latencyLimitMs: 25 },
    },
  ],
  ["zeros", { inputs: inputs("zero", 128) }],
  ["long texts", { inputs: inputs("random", 1000) }],
  ["a given text", { inputs: inputs("zero", 128, "a b") }],
  ["files", { inputs: { kind: "json", files: [fileURLToPath(import.meta.url)], refusesShortFloats: true } }],
  [
    "windows",
    { measurement: { mode: { ...STABLE, windowMs: 2000, stabilityPct: 2.5, maxTrials: 4 }, percentile: 95 } },
  ],
  [
    "counted windows",
    {
      measurement: { mode: { kind: "count-windows", requestsPerWindow: 70, stabilityPct: 5, maxTrials: 10 } },
    },
  ],
  ["a count and a warm-up", { measurement: { mode: { kind: "requests", count: 500 }, warmupRequests: 7 } }],
  ["the ranks of an MPI job", { client: { isMpi: true } }],
  ["another client", { client: { kind: "undici", stallTimeoutMs: 2000, requestTimeoutMs: 90_000 } }],
  ["the largest response", { client: { maxResponseBytes: 1_000_000 } }],
  ["failures", { failures: { maxRatio: 0.25 } }],
  [
    "metrics where Triton has them",
    { target: { url: "gpu:9" }, telemetry: { metrics: { url: "gpu:8002/metrics", intervalMs: 1000 }, trace: null } },
  ],
  ["metrics elsewhere", { telemetry: { metrics: { url: "https://h/metrics", intervalMs: 250 }, trace: null } }],
  [
    "trace settings",
    {
      telemetry: {
        metrics: null,
        trace: { file: "t.json", levels: ["TIMESTAMPS", "TENSORS"], rate: 1, count: -1, logFrequency: 0 },
      },
    },
  ],
  ["one trace setting", { telemetry: { metrics: null, trace: { ...NO_TRACE, levels: ["OFF"] } } }],
];

describe("a plan as flags, read back, is the same:", () => {
  for (const [name, change] of cases) {
    test(name, () => {
      const plan = makePlan({ ...change, client: { stallTimeoutMs: 60_000, ...change.client } });
      const { args, notes } = toFlags(plan);
      const again = readBack(args);
      assert.deepEqual(notes, []);
      assert.deepEqual(again.target, plan.target);
      assert.deepEqual(simplify(again.load), simplify(plan.load));
      assert.deepEqual(again.inputs, plan.inputs);
      assert.deepEqual(again.measurement, plan.measurement);
      const { maxLanes: _, ...client } = again.client;
      assert.deepEqual({ ...client, maxLanes: plan.client.maxLanes }, plan.client);
      assert.equal(again.failures.maxRatio, plan.failures.maxRatio ?? 0);
      assert.deepEqual(again.telemetry, plan.telemetry);
    });
  }
});

describe("a plan taken as settings has the same flags:", () => {
  // The settings do not have that an option was given, which counts for these only.
  const given = ["tensors that are binary for any server"];
  for (const [name, change] of cases.filter(([one]) => !given.includes(one)))
    test(name, () => {
      const plan = makePlan({ ...change, client: { stallTimeoutMs: 60_000, ...change.client } });
      const settings = new Settings();
      for (const option of OPTIONS) option.take?.(settings, plan);
      assert.deepEqual(toFlags(toPlan(settings).plan).args, toFlags(plan).args);
    });
});

/** A range of one level is that level. */
function simplify(load: Plan["load"]): Plan["load"] {
  if (load.kind !== "concurrency" || load.levels.kind !== "range" || load.levels.start !== load.levels.end) return load;
  return { ...load, levels: { kind: "list", values: [load.levels.start] } };
}

function changedRate(change: Partial<Plan["load"] & { kind: "request-rate" }>): Plan["load"] {
  return { ...rate("constant", 5, 5, 1), ...change } as Plan["load"];
}

test("a list with equal steps is a range", () => {
  for (const [values, range] of [
    [[1, 4], "1:4:3"],
    [[2, 4, 6, 8], "2:8:2"],
    [[1, 2, 4], "1"],
  ] as const) {
    const { args } = toFlags(makePlan({ load: concurrency({ kind: "list", values: [...values] }) }));
    assert.equal(args[args.indexOf("--concurrency-range") + 1], range);
  }
});

describe("what flags cannot say is a note:", () => {
  const noted: readonly (readonly [name: string, change: PlanChange, note: RegExp])[] = [
    ["several levels", { load: concurrency({ kind: "list", values: [1, 2, 8] }) }, /each of the levels 1, 2, 8/],
    [
      "a ramp in time",
      { load: { kind: "concurrency-ramp", start: 50, end: 1, overMs: 1000 } },
      /changes concurrency over time/,
    ],
    [
      "concurrency reached step by step",
      { load: { ...concurrency({ kind: "range", start: 4, end: 4, step: 1 }), rampMs: 5 } as Plan["load"] },
      /changes concurrency over time/,
    ],
    ["gamma gaps", { load: changedRate({ distribution: "gamma" }) }, /gamma-distributed gaps/],
    ["a limit of requests outstanding", { load: changedRate({ maxOutstanding: 4 }) }, /limit of requests in flight/],
    ["a rate that changes", { load: changedRate({ ramp: { fromPerSec: 0, overMs: 1 } }) }, /a rate that changes/],
    ["a given time", { measurement: { mode: { kind: "duration", durationMs: 2000 } } }, /not for a given time/],
    [
      "requests at several levels",
      { load: concurrency({ kind: "range", start: 1, end: 4, step: 1 }) },
      /count requests at a single level/,
    ],
    [
      "a gRPC server that may be anybody",
      { target: { protocol: "grpc", tls: { ...DEFAULT_TLS, isEnabled: true, verifyPeer: false, verifyHost: false } } },
      /any certificate/,
    ],
    ["several servers", { target: { moreUrls: ["b:1"] } }, /name one server/],
    ["a warm-up by time", { measurement: { warmupMs: 5 } }, /not for a time/],
    ["requests to cancel", { cancellation: { sharePct: 5, delayMs: 1, seed: 0 } }, /do not cancel/],
    [
      "assertions",
      { assertions: [{ metric: { key: "errorRate" }, comparison: "is", limit: 0 }] },
      /only a scenario has assertions/,
    ],
  ];
  for (const [name, change, note] of noted) {
    test(name, () => {
      const { args, notes } = toFlags(makePlan(change));
      assert.equal(notes.length, 1);
      assert.match(notes[0] ?? "", note);
      readBack(args);
    });
  }
});

test("concurrency that changes over time becomes its highest level", () => {
  const { args } = toFlags(makePlan({ load: { kind: "concurrency-ramp", start: 50, end: 1, overMs: 1000 } }));
  assert.deepEqual(readBack(args).load, concurrency({ kind: "list", values: [50] }));
});

test("the embedded target becomes the mock at its default ports", () => {
  for (const protocol of ["http", "grpc"] as const) {
    const target = { kind: "embedded", protocol, isStreaming: false, batchSize: 2, mock: MOCK } as const;
    const again = readBack(toFlags({ ...makePlan(), target }).args);
    assert.ok(again.target.kind === "triton");
    assert.equal(again.target.url, protocol === "http" ? "localhost:8000" : "localhost:8001");
    assert.deepEqual([again.target.model, again.target.protocol, again.target.batchSize], ["simple", protocol, 2]);
  }
});

test("targets that accept payloads, including the embedded one, keep their kind", () => {
  const openai: OpenAiTargetPlan = {
    kind: "openai",
    url: "https://host:9",
    protocol: "http",
    endpoint: "v1/completions",
    model: "m",
    batchSize: 1,
    isStreaming: false,
    headers: [["x-a", "b"]],
    tls: { ...DEFAULT_TLS, verifyPeer: false },
  };
  const payloads = { kind: "payloads", file: FILE, refusesLoadFields: true } as const;
  for (const target of [openai, { ...openai, isStreaming: true }]) {
    const { args, notes } = toFlags({ ...makePlan(), target, inputs: payloads });
    const again = readBack(args);
    assert.deepEqual([again.target, again.inputs, again.client.callMode, notes], [target, payloads, "async", []]);
  }
  const { notes } = toFlags({ ...makePlan(), target: { ...openai, apiKeyEnv: "KEY" }, inputs: payloads });
  assert.match(notes[0] ?? "", /\$KEY/);
  const embedded = { kind: "embedded", protocol: "http", isStreaming: true, batchSize: 1, mock: MOCK } as const;
  const flags = toFlags({ ...makePlan(), target: { ...embedded, llmPath: "v1/messages" }, inputs: payloads });
  const again = readBack(flags.args);
  assert.ok(again.target.kind === "openai");
  assert.deepEqual(
    [again.target.endpoint, again.target.model, again.target.url],
    ["v1/messages", "mock-llm", "localhost:8000"],
  );
});

test("TorchServe with a list of files is written as flags and read back", () => {
  const target: TorchServeTargetPlan = {
    kind: "torchserve",
    url: "host:9",
    protocol: "http",
    model: "m",
    modelVersion: "2",
    body: { kind: "multipart", part: "data" },
    batchSize: 1,
    isStreaming: false,
    headers: [["X-A", "b"]],
    tls: DEFAULT_TLS,
  };
  const files: Plan["inputs"] = { kind: "file-lists", files: [FILE], key: "TORCHSERVE_INPUT" };
  const { args, notes } = toFlags({ ...makePlan(), target, inputs: files });
  const again = readBack(args);
  assert.deepEqual([again.target, again.inputs, notes], [target, files, []]);
});
