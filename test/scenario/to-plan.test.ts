import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AssertionPlan } from "../../src/plan/assertions.ts";
import type { LoadPlan } from "../../src/plan/load-plan.ts";
import type { InputsPlan, MeasurementModePlan, Plan } from "../../src/plan/plan.ts";
import { DEFAULT_SEQUENCES } from "../../src/plan/sequences.ts";
import { NO_TELEMETRY } from "../../src/plan/telemetry.ts";
import { DEFAULT_TLS } from "../../src/plan/tls.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import type { Assertion } from "../../src/scenario/assertion.ts";
import { errorRate, mean, p50, p90, p95, p99, percentile, throughput } from "../../src/scenario/assertions.ts";
import { defineScenario, isScenario, type ScenarioDefinition } from "../../src/scenario/define.ts";
import type { Inputs } from "../../src/scenario/input-data.ts";
import { json, random, zero } from "../../src/scenario/inputs.ts";
import { hold, periodic, ramp, steps } from "../../src/scenario/loads/concurrency.ts";
import type { Load, LoadKind, LoadPlace } from "../../src/scenario/loads/load.ts";
import { multiStream, offline, server, singleStream } from "../../src/scenario/loads/mlperf.ts";
import { intervals, rate, rateSteps } from "../../src/scenario/loads/rates.ts";
import { fixedSchedule } from "../../src/scenario/loads/schedules.ts";
import { sessions } from "../../src/scenario/loads/sessions.ts";
import { convertLoads } from "../../src/scenario/loads/table.ts";
import { prompts } from "../../src/scenario/prompts.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { embeddedLlm } from "../../src/scenario/targets/llm.ts";
import type { Target } from "../../src/scenario/targets/target.ts";
import { triton } from "../../src/scenario/targets/triton.ts";
import { type PlanOverrides, toPlan } from "../../src/scenario/to-plan.ts";

/** From builders and defaults to the plan. */

const least: ScenarioDefinition = { name: "least", target: triton("host:1", { model: "m" }), load: hold(1) };

function planOf(change: Partial<ScenarioDefinition> = {}, overrides: PlanOverrides = {}, folder = "/folder"): Plan {
  return toPlan(defineScenario({ ...least, ...change }), folder, overrides);
}

describe("a scenario's plan", () => {
  test("has the documented defaults", () => {
    const expected: Plan = {
      version: 1,
      name: "least",
      target: {
        kind: "triton",
        url: "host:1",
        protocol: "http",
        isStreaming: false,
        batchSize: 1,
        model: "m",
        modelVersion: "",
        inputTensorFormat: "binary",
        outputTensorFormat: "binary",
        headers: [],
        shapes: {},
        sharedMemory: "none",
        outputSharedMemoryBytes: 102_400,
        parameters: {},
        compression: "none",
        composingModels: [],
        tls: DEFAULT_TLS,
      },
      load: { kind: "concurrency", levels: { kind: "list", values: [1] }, search: "linear" },
      sequences: DEFAULT_SEQUENCES,
      inputs: { kind: "random", stringLength: 128, stringData: "" },
      measurement: {
        mode: { kind: "time-windows", windowMs: 5000, stabilityPct: 10, maxTrials: 10 },
        warmupRequests: 0,
        percentile: null,
        latencyLimitMs: null,
      },
      client: { kind: "own", callMode: "auto", maxLanes: null, stallTimeoutMs: 60_000, isMpi: false },
      failures: { maxRatio: null },
      telemetry: NO_TELEMETRY,
      assertions: [],
      outputs: {
        style: "rampart",
        verbosity: 0,
        files: {},
        isVerboseCsv: false,
      },
    };
    assert.deepEqual(planOf(), expected);
  });

  test("carries every option of the scenario itself", () => {
    const plan = planOf({
      warmupRequests: 7,
      warmupFor: "1.5 s",
      cancel: { share: "2.5 %", after: "60 ms", seed: 3 },
      stability: { window: "1.5 s", within: "2.5 %", trials: 4, percentile: 95 },
      latencyLimit: "250 us",
      maxErrorRate: "25 %",
      client: "undici",
      stallTimeout: "2 min",
    });
    assert.deepEqual(plan.measurement, {
      mode: { kind: "time-windows", windowMs: 1500, stabilityPct: 2.5, maxTrials: 4 },
      warmupRequests: 7,
      warmupMs: 1500,
      percentile: 95,
      latencyLimitMs: 0.25,
    });
    assert.deepEqual(plan.client, {
      kind: "undici",
      callMode: "auto",
      maxLanes: null,
      stallTimeoutMs: 120_000,
      isMpi: false,
    });
    assert.equal(plan.failures.maxRatio, 0.25);
    assert.deepEqual(plan.cancellation, { sharePct: 2.5, delayMs: 60, seed: 3 });
    assert.deepEqual(planOf({ cancel: { share: "1 %" } }).cancellation, { sharePct: 1, delayMs: 0, seed: 0 });
  });

  test("takes several servers, which another address of the command line replaces", () => {
    const target = triton(["host:1", "host:2", "host:3"], { model: "m" });
    const urlsOf = (overrides?: PlanOverrides): unknown => {
      const plan = planOf({ target }, overrides);
      return plan.target.kind === "triton" ? [plan.target.url, plan.target.moreUrls] : undefined;
    };
    assert.deepEqual(urlsOf(), ["host:1", ["host:2", "host:3"]]);
    assert.deepEqual(urlsOf({ urls: ["other:1"] }), ["other:1", undefined]);
    assert.deepEqual(urlsOf({ urls: ["other:1", "other:2"] }), ["other:1", ["other:2"]]);
    assert.deepEqual(planOf({ target: triton(["host:1"], { model: "m" }) }).target, planOf().target);
  });

  test("reads metrics from Triton's default address unless another is given", () => {
    const metricsOf = (change: Partial<ScenarioDefinition>, overrides?: PlanOverrides): unknown =>
      planOf(change, overrides).telemetry.metrics;
    assert.deepEqual(metricsOf({ metrics: {} }), { url: "host:8002/metrics", intervalMs: 1000 });
    assert.deepEqual(metricsOf({ metrics: {} }, { urls: ["other:2"] }), {
      url: "other:8002/metrics",
      intervalMs: 1000,
    });
    const metrics = { url: "https://m/gpus", every: "250 ms" } as const;
    assert.deepEqual(metricsOf({ metrics, target: embedded() }), {
      url: "https://m/gpus",
      intervalMs: 250,
      isAsked: true,
    });
  });

  test("has the sequences that were asked for", () => {
    assert.deepEqual(planOf({ sequences: {} }).sequences, DEFAULT_SEQUENCES);
    const sequences = { length: 7, variation: 0, ids: [5, 9], concurrent: 2, serial: true } as const;
    assert.deepEqual(planOf({ sequences }).sequences, {
      length: 7,
      lengthVariationPct: 0,
      startId: 5,
      idCount: 4,
      concurrent: 2,
      isSerial: true,
    });
  });

  test("sends parameters with the type that their values have", () => {
    const parameters = {
      flag: true,
      name: "a b",
      count: 256,
      heat: 0.5,
      one: { double: 1 },
      long: -(2n ** 63n),
      beyond: 2n ** 64n - 1n,
    };
    const plan = planOf({ target: triton("host:1", { protocol: "grpc", model: "m", parameters }) });
    assert.deepEqual(plan.target.kind === "triton" && plan.target.parameters, {
      flag: { type: "bool", value: "true" },
      name: { type: "string", value: "a b" },
      count: { type: "int", value: "256" },
      heat: { type: "double", value: "0.5" },
      one: { type: "double", value: "1" },
      long: { type: "int", value: "-9223372036854775808" },
      beyond: { type: "uint", value: "18446744073709551615" },
    });
    checkPlan(plan);
  });

  test("distinguishes formats of TLS files, and checks of signer and name", () => {
    const tls = { cert: "c.der", certType: "DER", key: "/k.der", keyType: "DER", verify: { peer: false } } as const;
    const plan = planOf({ target: triton("https://host", { model: "m", tls }) });
    assert.deepEqual(plan.target.kind === "triton" && plan.target.tls, {
      ...DEFAULT_TLS,
      isEnabled: true,
      certFile: "/folder/c.der",
      certType: "DER",
      keyFile: "/k.der",
      keyType: "DER",
      verifyPeer: false,
    });
  });

  test("is changed by the command line", () => {
    const plan = planOf({ client: "own" }, { urls: ["other:2"], client: "undici" });
    assert.equal(plan.target.kind === "triton" && plan.target.url, "other:2");
    assert.equal(plan.client.kind, "undici");
  });

  test("is plain data that survives JSON and passes the check of plans", () => {
    const plan = planOf({ load: rateSteps([1, 2]), assert: [p99("scheduledLatency").below("1 ms")] });
    const read = JSON.parse(JSON.stringify(plan)) as Plan;
    assert.deepEqual(read, plan);
    checkPlan(read);
  });

  test("accepts scenarios only, and rejects look-alikes", () => {
    assert.equal(isScenario(defineScenario(least)), true);
    for (const other of [{ definition: least }, least, null, undefined, "x"]) assert.equal(isScenario(other), false);
  });
});

describe("a target's plan", () => {
  const cases: readonly (readonly [string, Target, Partial<Plan["target"]>])[] = [
    ["triton over HTTP", triton("h:1", { protocol: "http", model: "m" }), { protocol: "http", isStreaming: false }],
    ["triton over gRPC", triton("h:1", { protocol: "grpc", model: "m" }), { protocol: "grpc", isStreaming: false }],
    [
      "triton over a gRPC stream",
      triton("h:1", { protocol: "grpc", model: "m", streaming: true }),
      { protocol: "grpc", isStreaming: true },
    ],
    [
      "triton with compressed requests",
      triton("h:1", { protocol: "grpc", model: "m", compression: "deflate" }),
      { compression: "deflate" },
    ],
    [
      "triton with every option",
      triton("https://h/p", {
        model: "m",
        version: "3",
        batchSize: 4,
        inputTensorFormat: "json",
        outputTensorFormat: "json",
        shapes: { IN: [3, 224] },
        sharedMemory: "system",
        outputSharedMemoryBytes: 64,
        headers: { "x-a": "1", "x-b": "2" },
        composingModels: ["a:3", "b"],
        tls: { ca: "ca.pem", cert: "cert.pem", key: "key.pem", verify: false },
      }),
      {
        url: "https://h/p",
        modelVersion: "3",
        batchSize: 4,
        inputTensorFormat: "json",
        outputTensorFormat: "json",
        shapes: { IN: [3, 224] },
        sharedMemory: "system",
        outputSharedMemoryBytes: 64,
        headers: [
          ["x-a", "1"],
          ["x-b", "2"],
        ],
        composingModels: [
          { name: "a", version: "3" },
          { name: "b", version: "" },
        ],
        tls: {
          ...DEFAULT_TLS,
          isEnabled: true,
          caFile: "/folder/ca.pem",
          certFile: "/folder/cert.pem",
          keyFile: "/folder/key.pem",
          verifyPeer: false,
          verifyHost: false,
        },
      },
    ],
    [
      "triton with the runtime's authorities",
      triton("h:1", { model: "m", tls: true }),
      { tls: { ...DEFAULT_TLS, isEnabled: true } },
    ],
    [
      "embedded by default",
      embedded(),
      {
        kind: "embedded",
        protocol: "http",
        isStreaming: false,
        batchSize: 1,
        mock: { latency: { kind: "constant", ms: 0 }, errorRatio: 0, responseBytes: 0 },
      },
    ],
    [
      "embedded with every option",
      embedded({
        protocol: "grpc",
        streaming: true,
        batchSize: 8,
        latency: "uniform:1ms:9 ms",
        errorRate: "50 %",
        responseBytes: 3,
      }),
      {
        protocol: "grpc",
        isStreaming: true,
        batchSize: 8,
        mock: { latency: { kind: "uniform", minMs: 1, maxMs: 9 }, errorRatio: 0.5, responseBytes: 3 },
      },
    ],
    [
      "embedded with a normal latency",
      embedded({ latency: "normal:5ms:500us" }),
      { mock: { latency: { kind: "normal", meanMs: 5, deviationMs: 0.5 }, errorRatio: 0, responseBytes: 0 } },
    ],
    [
      "embedded with an exponential latency",
      embedded({ latency: "exponential:5ms" }),
      { mock: { latency: { kind: "exponential", meanMs: 5 }, errorRatio: 0, responseBytes: 0 } },
    ],
  ];
  for (const [name, target, expected] of cases) {
    test(name, () => {
      const plan = planOf({ target });
      assert.deepEqual({ ...plan.target, ...expected }, plan.target);
      assert.equal(plan.client.callMode, plan.target.isStreaming ? "async" : "auto");
    });
  }
});

describe("a load's plan", () => {
  const stable: MeasurementModePlan = { kind: "time-windows", windowMs: 5000, stabilityPct: 10, maxTrials: 10 };
  const range = (start: number, end: number, step: number): LoadPlan => ({
    kind: "concurrency",
    levels: { kind: "range", start, end, step },
    search: "linear",
  });
  const list = (...values: number[]): LoadPlan => ({
    kind: "concurrency",
    levels: { kind: "list", values },
    search: "linear",
  });
  const rates = (distribution: "constant" | "poisson", seed: number, ...values: number[]): LoadPlan => ({
    kind: "request-rate",
    levels: { kind: "list", values },
    search: "linear",
    distribution,
    seed,
  });
  const cases: readonly (readonly [string, Load<LoadKind, LoadPlace>, LoadPlan, MeasurementModePlan])[] = [
    ["ramp", ramp(1, 50), range(1, 50, 1), stable],
    ["ramp with a step", ramp(1, 50, { step: 7 }), range(1, 50, 7), stable],
    ["ramp for a time", ramp(2, 2, { for: "30 s" }), range(2, 2, 1), { kind: "duration", durationMs: 30_000 }],
    ["ramp of requests", ramp(1, 4, { requests: 9 }), range(1, 4, 1), { kind: "requests", count: 9 }],
    [
      "ramp over a time",
      ramp(1, 50, { over: "2 min" }),
      { kind: "concurrency-ramp", start: 1, end: 50, overMs: 120_000 },
      { kind: "duration", durationMs: 120_000 },
    ],
    [
      "ramp that falls over a time",
      ramp(50, 1, { over: "1 s" }),
      { kind: "concurrency-ramp", start: 50, end: 1, overMs: 1000 },
      { kind: "duration", durationMs: 1000 },
    ],
    ["hold", hold(16), list(16), stable],
    ["hold for a time", hold(16, { for: "250ms" }), list(16), { kind: "duration", durationMs: 250 }],
    ["hold of requests", hold(16, { requests: 1000 }), list(16), { kind: "requests", count: 1000 }],
    ["steps", steps([1, 2, 4, 8]), list(1, 2, 4, 8), stable],
    ["steps of requests", steps([4, 1], { requests: 5 }), list(4, 1), { kind: "requests", count: 5 }],
    ["rate", rate(100), rates("constant", 0, 100), stable],
    ["rates", rateSteps([10, 0.5]), rates("constant", 0, 10, 0.5), stable],
    [
      "rate of independent users",
      rate(100, { distribution: "poisson", seed: 3, for: "1 h" }),
      rates("poisson", 3, 100),
      { kind: "duration", durationMs: 3_600_000 },
    ],
    [
      "intervals",
      intervals("gaps.txt", { requests: 9 }),
      { kind: "intervals", file: "/folder/gaps.txt" },
      { kind: "requests", count: 9 },
    ],
    ["fixed schedule", fixedSchedule(), { kind: "fixed-schedule" }, { kind: "requests", count: null }],
    [
      "periodic",
      periodic(4, 16, { step: 4, responses: 3 }),
      { kind: "periodic-concurrency", start: 4, end: 16, step: 4, periodResponses: 3 },
      { kind: "requests", count: 16 },
    ],
    [
      "single stream",
      singleStream(),
      { kind: "mlperf", scenario: "single-stream", percentile: 90 },
      { kind: "requests", count: 64, minDurationMs: 600_000 },
    ],
    [
      "multi-stream",
      multiStream({ for: "1 s", queries: 10, samplesPerQuery: 4, percentile: 95 }),
      { kind: "mlperf", scenario: "multi-stream", percentile: 95, samplesPerQuery: 4 },
      { kind: "requests", count: 40, minDurationMs: 1000 },
    ],
    [
      "server",
      server(200, { latency: "15 ms" }),
      { kind: "mlperf-server", ratePerSec: 200, percentile: 99, latencyLimitMs: 15, seed: 0 },
      { kind: "requests", count: 662, minDurationMs: 600_000 },
    ],
    [
      "offline",
      offline(),
      { kind: "mlperf", scenario: "offline", maxOutstanding: 64 },
      { kind: "requests", count: 24_576, minDurationMs: 600_000 },
    ],
  ];
  for (const [name, load, expected, mode] of cases) {
    test(name, () => {
      const plan = planOf({ load, inputs: json("a.json") });
      assert.deepEqual(plan.load, expected);
      assert.deepEqual(plan.measurement.mode, mode);
      assert.equal(plan.client.callMode, load.pacing === "scheduled" ? "async" : "auto");
    });
  }

  test("server with limits of streamed tokens", () => {
    const load = server(5, { timeToFirstToken: "2 s", timePerOutputToken: "200 ms" });
    const target = embeddedLlm({ streaming: true });
    const plan = planOf({ load, target, inputs: prompts({ file: "x.jsonl" }) } as Partial<ScenarioDefinition>);
    assert.deepEqual(plan.load, {
      kind: "mlperf-server",
      ratePerSec: 5,
      percentile: 99,
      tokenLimits: { timeToFirstTokenMs: 2000, timePerOutputTokenMs: 200 },
      seed: 0,
    });
  });

  test("sessions, which payloads are of", () => {
    const load = sessions(4);
    const { plan, plain } = convertLoads(load, "/folder");
    assert.deepEqual(plan, { kind: "session-concurrency", concurrency: 4 });
    assert.deepEqual(plain?.extent, { kind: "requests", count: null });
    assert.throws(() => planOf({ load }), /needs payloads with session ids/);
  });
});

describe("an assertion's plan", () => {
  const latency = (value: number, of: "latency" | "scheduledLatency" = "latency"): AssertionPlan["metric"] => ({
    key: of,
    statistic: value,
  });
  const cases: readonly (readonly [string, Assertion, AssertionPlan["metric"], string, number])[] = [
    ["p50", p50().below("250 us"), latency(50), "below", 250_000],
    ["p90", p90("latency").atMost("1ms"), latency(90), "at-most", 1e6],
    ["p95", p95().above("1.5 s"), latency(95), "above", 1.5e9],
    ["p99", p99("scheduledLatency").atLeast("2 min"), latency(99, "scheduledLatency"), "at-least", 120e9],
    ["percentile", percentile(99.9).below("1 h"), latency(99.9), "below", 3600e9],
    ["mean", mean().below("25 ms"), { key: "latency", statistic: "mean" }, "below", 25e6],
    [
      "mean from the due time",
      mean("scheduledLatency").below("25 ms"),
      { key: "scheduledLatency", statistic: "mean" },
      "below",
      25e6,
    ],
    ["throughput", throughput().above(100), { key: "throughput" }, "above", 100],
    ["throughput at least", throughput().atLeast(0.5), { key: "throughput" }, "at-least", 0.5],
    ["throughput below", throughput().below(7), { key: "throughput" }, "below", 7],
    ["throughput at most", throughput().atMost(7), { key: "throughput" }, "at-most", 7],
    ["error rate", errorRate().is(0), { key: "errorRate" }, "is", 0],
    ["error rate below", errorRate().below("1 %"), { key: "errorRate" }, "below", 0.01],
    ["error rate at most", errorRate().atMost("100 %"), { key: "errorRate" }, "at-most", 1],
  ];
  for (const [name, assertion, metric, comparison, limit] of cases) {
    test(name, () => {
      const plan = planOf({ load: rate(1), assert: [assertion] });
      assert.deepEqual(plan.assertions, [{ metric, comparison, limit }]);
    });
  }
});

describe("the plan of inputs", () => {
  const cases: readonly (readonly [string, Inputs, InputsPlan])[] = [
    ["random", random(), { kind: "random", stringLength: 128, stringData: "" }],
    ["random texts", random({ stringLength: 1 }), { kind: "random", stringLength: 1, stringData: "" }],
    ["zero", zero(), { kind: "zero", stringLength: 128, stringData: "" }],
    ["a given text", zero({ stringData: "abc" }), { kind: "zero", stringLength: 128, stringData: "abc" }],
    [
      "files relative to the scenario's folder",
      json("./a.json"),
      { kind: "json", files: ["/folder/a.json"], readsTags: true },
    ],
    [
      "several files, in order",
      json("b/c.json", "../d.json", "/e/f.json"),
      { kind: "json", files: ["/folder/b/c.json", "/d.json", "/e/f.json"], readsTags: true },
    ],
  ];
  for (const [name, inputs, expected] of cases) {
    test(name, () => {
      assert.deepEqual(planOf({ inputs }).inputs, expected);
    });
  }
});
