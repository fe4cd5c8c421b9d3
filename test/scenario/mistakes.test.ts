import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { word } from "../../src/plan/messages.ts";
import type { Problem } from "../../src/plan/problem.ts";
import {
  errorRate,
  type MetricLimits,
  max,
  mean,
  metric,
  p99,
  percentile,
  throughput,
} from "../../src/scenario/assertions.ts";
import { defineScenario, type Scenario } from "../../src/scenario/define.ts";
import { DURATION_RULE } from "../../src/scenario/fields.ts";
import { json, random, zero } from "../../src/scenario/inputs.ts";
import { hold, periodic, ramp, steps } from "../../src/scenario/loads/concurrency.ts";
import { soak, warmup } from "../../src/scenario/loads/phases.ts";
import { intervals, rate, rateSteps } from "../../src/scenario/loads/rates.ts";
import { fixedSchedule } from "../../src/scenario/loads/schedules.ts";
import { sessions } from "../../src/scenario/loads/sessions.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { http } from "../../src/scenario/targets/http.ts";
import { triton } from "../../src/scenario/targets/triton.ts";
import { type PlanOverrides, toPlan } from "../../src/scenario/to-plan.ts";
import { problemsIn } from "../plan/refused.ts";
import { untyped } from "./untyped.ts";

/** What untyped callers are told: every problem at once, each by its path in the scenario. */

const untypedMetric = (name: string) => untyped(metric)(name) as MetricLimits<"throughput">;

const untypedPercentile = (value: number) => untyped(percentile)(value) as MetricLimits<"latency">;

const server = triton("host:1", { model: "m" });
const grpc = triton("host:1", { protocol: "grpc", model: "m" });
const least: Record<string, unknown> = { name: "x", target: server, load: hold(1) };
const [anyTriton, anyEmbedded] = [untyped(triton), untyped(embedded)];
const [anyHold, anyRamp, anyRate, anySteps] = [untyped(hold), untyped(ramp), untyped(rate), untyped(steps)];

function problemsOf(definition: unknown, overrides: PlanOverrides = {}): readonly Problem[] {
  return problemsIn(() => toPlan(untyped(defineScenario)(definition) as Scenario, "/folder", overrides));
}

/** A change of the least scenario, and the path and text of the one problem it has. */
type Mistake = readonly [name: string, change: Record<string, unknown>, path: string, message: RegExp];

const fields: readonly Mistake[] = [
  ["an unknown field", { asserts: [] }, "asserts", /not an option here/],
  ["options that are none", { load: untyped(intervals)("gaps", 7) }, "load", /needs an object of options/],
  [
    "options of a warm-up that are none",
    { load: [untyped(warmup)(5, hold(1)), hold(1)] },
    "load.0",
    /object of options/,
  ],
  [
    "an unknown option of a soak",
    { load: untyped(soak)(4, { for: "1 h", step: 1 }) },
    "load.step",
    /not an option here/,
  ],
  ["an option of another tool", { thresholds: {} }, "thresholds", /not an option here/],
  [
    "a percentile of stability as a ratio",
    { stability: { percentile: 0.99 } },
    "stability.percentile",
    /must have a percentile of 1 or more/,
  ],
  ["an empty name", { name: "" }, "name", /must be a name/],
  ["a name that is no text", { name: 7 }, "name", /must be a name/],
  ["a negative warm-up", { warmupRequests: -1 }, "warmupRequests", /0 or more/],
  ["half a warm-up request", { warmupRequests: 1.5 }, "warmupRequests", /whole number/],
  ["no number", { warmupRequests: Number.NaN }, "warmupRequests", /must be a number/],
  ["a bare warm-up", { warmupFor: 3 }, "warmupFor", new RegExp(DURATION_RULE)],
  ["a share of nothing", { cancel: { share: "0 %" } }, "cancel.share", /above 0 %/],
  ["a share beyond all", { cancel: { share: "101 %" } }, "cancel.share", /100 % or less/],
  ["a bare delay", { cancel: { share: "1 %", after: 60 } }, "cancel.after", new RegExp(DURATION_RULE)],
  ["an unknown option of cancel", { cancel: { share: "1 %", delay: "1 s" } }, "cancel.delay", /not an option here/],
  ["no server at all", { target: anyTriton([], { model: "m" }) }, "target.url", /host:port or a URL/],
  ["an empty second server", { target: anyTriton(["a:1", ""], { model: "m" }) }, "target.moreUrls.0", /host:port/],
  ["a bare window", { stability: { window: 5 } }, "stability.window", new RegExp(DURATION_RULE)],
  ["a window without length", { stability: { window: "0 s" } }, "stability.window", /longer than 0/],
  ["no tolerance", { stability: { within: "0 %" } }, "stability.within", /above 0 %/],
  ["too few trials", { stability: { trials: 2 } }, "stability.trials", /3 or more/],
  ["a percentile of 100", { stability: { percentile: 100 } }, "stability.percentile", /below 100/],
  ["an unknown field of stability", { stability: { windows: 1 } }, "stability.windows", /not an option here/],
  ["metrics of no server", { metrics: { url: "ftp://h" } }, "metrics.url", /such as "localhost:8002\/metrics"/],
  ["a bare interval of metrics", { metrics: { every: 500 } }, "metrics.every", new RegExp(DURATION_RULE)],
  ["metrics as a flag", { metrics: true }, "metrics", /needs an object of options/],
  ["metrics of the embedded target", { target: embedded(), metrics: {} }, "metrics.url", /has no metrics/],
  ["a bare limit", { latencyLimit: 25 }, "latencyLimit", new RegExp(DURATION_RULE)],
  ["a limit of nothing", { latencyLimit: "0 ms" }, "latencyLimit", /longer than 0/],
  ["a bare ratio", { assert: [untyped(errorRate().below)(0.01)] }, "assert.0", /\bpercentage\b/],
  ["more errors than requests", { maxErrorRate: "500 %" }, "maxErrorRate", /100 % or less/],
  ["a bare stall timeout", { stallTimeout: 60 }, "stallTimeout", new RegExp(DURATION_RULE)],
  ["a bare request timeout", { timeout: 60 }, "timeout", new RegExp(DURATION_RULE)],
  ["a largest response of nothing", { maxResponseBytes: 0 }, "maxResponseBytes", /1 or more/],
  ["no worker", { workers: 0 }, "workers", /1 or more/],
  ["an unknown number of workers", { workers: "all" }, "workers", /a whole number from 1 to 256, or "auto"/],
  ["no requests in flight", { maxInFlight: 0 }, "maxInFlight", /1 or more/],
  ["a largest response beyond 2 GiB", { maxResponseBytes: 2 ** 31 }, "maxResponseBytes", /2147483647 or less/],
  ["no stall timeout", { stallTimeout: "0 s" }, "stallTimeout", /longer than 0/],
  ["an unknown client", { client: "fetch" }, "client", /"own", "undici" or "grpc-js"/],
  ["undici over gRPC", { target: grpc, client: "undici" }, "client", /undici speaks HTTP/],
  ["grpc-js over HTTP", { client: "grpc-js" }, "client", /grpc-js speaks gRPC/],
  [
    "a builder that was not called",
    { target: embedded },
    "target",
    /must be triton\(…\), openai\(…\), .*embedded\(…\)/,
  ],
];

const targets: readonly Mistake[] = [
  ["an address for a target", { target: "host:1" }, "target", /must be triton\(…\), openai\(…\), .*embedded\(…\)/],
  ["no address", { target: triton("", { model: "m" }) }, "target.url", /host:port or a URL/],
  ["no options", { target: anyTriton("host:1") }, "target", /needs an object of options/],
  ["no model", { target: anyTriton("host:1", {}) }, "target.model", /is missing/],
  ["an unknown option", { target: anyTriton("h:1", { model: "m", modle: 1 }) }, "target.modle", /not an option here/],
  ["an unknown protocol", { target: anyTriton("h:1", { model: "m", protocol: "x" }) }, "target.protocol", /"grpc"/],
  ["a stream over HTTP", { target: anyTriton("h:1", { model: "m", streaming: true }) }, "target.streaming", /"grpc"/],
  [
    "parameters over HTTP",
    { target: anyTriton("h:1", { model: "m", parameters: { a: 1 } }) },
    "target.parameters",
    /protocol: "grpc"/,
  ],
  [
    "a parameter that is none",
    { target: anyTriton("h:1", { model: "m", protocol: "grpc", parameters: { a: [1] } }) },
    "target.parameters.a",
    /must be true, false, text, a number/,
  ],
  [
    "a parameter beyond 64 bits",
    { target: anyTriton("h:1", { model: "m", protocol: "grpc", parameters: { a: 2n ** 64n } }) },
    "target.parameters.a",
    /64 bits/,
  ],
  [
    "compression over HTTP",
    { target: anyTriton("h:1", { model: "m", compression: "gzip" }) },
    "target.compression",
    /"grpc"/,
  ],
  [
    "an unknown compression",
    { target: anyTriton("h:1", { model: "m", protocol: "grpc", compression: "lz4" }) },
    "target.compression",
    /"gzip" or "deflate"/,
  ],
  ["a stream of the embedded target", { target: anyEmbedded({ streaming: true }) }, "target.streaming", /"grpc"/],
  ["an empty batch", { target: triton("h:1", { model: "m", batchSize: 0 }) }, "target.batchSize", /1 or more/],
  [
    "shared memory of no kind",
    { target: triton("h:1", { model: "m", sharedMemory: "gpu" as "cuda" }) },
    "target.sharedMemory",
    /"system" or "cuda"/,
  ],
  [
    "no memory for an output",
    { target: triton("h:1", { model: "m", sharedMemory: "system", outputSharedMemoryBytes: 0 }) },
    "target.outputSharedMemoryBytes",
    /1 or/,
  ],
  ["a shape of nothing", { target: triton("h:1", { model: "m", shapes: { IN: [0] } }) }, "target.shapes.IN.0", /1 or/],
  [
    "a header that is no text",
    { target: anyTriton("h:1", { model: "m", headers: { a: 1 } }) },
    "target.headers.a",
    /text/,
  ],
  [
    "a header's name",
    { target: triton("h:1", { model: "m", headers: { "a b": "" } }) },
    "target.headers.a b",
    /must be a header's name/,
  ],
  ...["", "a:", "a:x", "a,b", "a:1:2"].map(
    (name): Mistake => [
      `'${name}' for a model that is called`,
      { target: triton("h:1", { model: "m", composingModels: [name] }) },
      "target.composingModels.0",
      /"name" or "name:version"/,
    ],
  ),
  ["TLS as text", { target: anyTriton("h:1", { model: "m", tls: "yes" }) }, "target.tls", /true, false or/],
  ["a large batch", { target: embedded({ batchSize: 9 }) }, "target.batchSize", /8 at most/],
  ["a bare latency", { target: anyEmbedded({ latency: 5 }) }, "target.latency", /"uniform:1ms:9ms"/],
  ["an hour for a latency", { target: embedded({ latency: "1 h" }) }, "target.latency", /10 min at most/],
  ["a very large response", { target: embedded({ responseBytes: 2 ** 30 }) }, "target.responseBytes", /64 MiB at most/],
  ["errors above 1", { target: embedded({ errorRate: "110 %" }) }, "target.errorRate", /100 % or less/],
  ["half a byte", { target: embedded({ responseBytes: 0.5 }) }, "target.responseBytes", /whole number/],
  ["a model of the embedded target", { target: anyEmbedded({ model: "m" }) }, "target.model", /not an option here/],
];

const loads: readonly Mistake[] = [
  [
    "a number for a load",
    { load: 16 },
    "load",
    /ramp\(…\), hold\(…\), steps\(…\), rate\(…\), rateSteps\(…\), rateRamp\(…\)/,
  ],
  ["a concurrency of 0", { load: hold(0 as number) }, "load.concurrency", /1 or more/],
  ["half a request", { load: hold(1.5 as number) }, "load.concurrency", /whole number/],
  ["a ramp without an end", { load: anyRamp(1) }, "load.to", /must be a number/],
  ["a ramp of text", { load: anyRamp("1", 4) }, "load.from", /must be a number/],
  ["a ramp that falls by levels", { load: ramp(4, 1) }, "load", /cannot fall from 4 to 1/],
  ["a step of 0", { load: ramp(1, 4, { step: 0 }) }, "load.step", /1 or more/],
  ["over with step", { load: anyRamp(1, 4, { over: "1 s", step: 2 }) }, "load.over", /together with step/],
  ["over with for", { load: anyRamp(1, 4, { over: "1 s", for: "1 s" }) }, "load.over", /together with/],
  ["over without length", { load: ramp(1, 4, { over: "0 s" }) }, "load.over", /longer than 0/],
  ["for with requests", { load: anyHold(1, { for: "1 s", requests: 1 }) }, "load.requests", /together with for/],
  ["a bare duration", { load: anyHold(1, { for: 5 }) }, "load.for", new RegExp(DURATION_RULE)],
  ["an unknown unit", { load: anyHold(1, { for: "5 sec" }) }, "load.for", new RegExp(DURATION_RULE)],
  ["no requests", { load: hold(1, { requests: 0 }) }, "load.requests", /1 or more/],
  ["options that are none", { load: anyHold(1, null) }, "load", /needs an object of options/],
  ["an option of another load", { load: anyHold(1, { step: 2 }) }, "load.step", /not an option here/],
  ["no levels", { load: steps([]) }, "load", /must have a level/],
  ["levels that are no list", { load: anySteps(3) }, "load", /list of levels/],
  ["a rate of 0", { load: rateSteps([1, 0]) }, "load.perSec.1", /above 0/],
  ["a rate without end", { load: rate(Number.POSITIVE_INFINITY) }, "load.perSec", /finite/],
  ["an unknown distribution", { load: anyRate(1, { distribution: "x" }) }, "load.distribution", /"poisson"/],
  ["intervals without a file", { load: intervals("") }, "load.file", /must be a file/],
  ["a periodic load that misses its end", { load: periodic(1, 4, { step: 2 }) }, "load", /does not reach its end/],
  ["sequences of no length", { sequences: { length: 0 } }, "sequences.length", /1 or more/],
  ["ids that end where they begin", { sequences: { ids: [3, 3] } }, "sequences.ids", /must end after its start/],
  ["an unknown option of sequences", { sequences: { size: 3 } }, "sequences.size", /not an option here/],
  [
    "a warm-up ahead of a fixed schedule",
    { load: fixedSchedule(), inputs: json("a.json"), warmupRequests: 2 },
    "warmupRequests",
    /already fixes the number of requests/,
  ],
  [
    "a warm-up ahead of sessions",
    { load: sessions(2), warmupRequests: 2 },
    "warmupRequests",
    /needs a load with a time: this one holds each conversation once/,
  ],
  ["no sessions at once", { load: sessions(0 as number) }, "load.concurrency", /1 or more/],
  [
    "a warm-up by time ahead of a fixed schedule",
    { load: fixedSchedule(), inputs: json("a.json"), warmupFor: "1 s" },
    "warmupFor",
    /already fixes the number of requests/,
  ],
  ["a fixed schedule of data without times", { load: fixedSchedule() }, "inputs.data", /needs data with times/],
  ["half a seed", { load: rate(1, { seed: 0.5 }) }, "load.seed", /whole number/],
];

const others: readonly Mistake[] = [
  [
    "a name for inputs",
    { inputs: "random" },
    "inputs",
    /input\.random\(\), input\.zero\(\), input\.json\(…\), .* or input\.generate\(…\)/,
  ],
  ["no file", { inputs: untyped(json)() }, "inputs.files", /must name a file/],
  ["a list for a file", { inputs: untyped(json)(["a"]) }, "inputs.files.0", /must be a file/],
  ["an unknown option of inputs", { inputs: untyped(random)({ length: 1 }) }, "inputs.length", /not an option here/],
  ["texts without length", { inputs: zero({ stringLength: 0 }) }, "inputs.stringLength", /1 or more/],
  ["one assertion without its list", { assert: errorRate().is(0) }, "assert", /list of assertions/],
  ["a metric without a limit", { assert: [p99()] }, "assert.0", /must be an assertion/],
  ["a limit that was not called", { assert: [p99().below] }, "assert.0", /must be an assertion/],
  ["nothing for an assertion", { assert: [undefined] }, "assert.0", /must be an assertion/],
  ["an unknown metric", { assert: [{ metric: { kind: "ttft" }, limit: 1 }] }, "assert.0", /must be an assertion/],
  ["a bare limit of a latency", { assert: [untyped(p99().below)(25)] }, "assert.0", new RegExp(DURATION_RULE)],
  [
    "an unknown latency",
    { assert: [untyped(p99)("ttft")].map((m) => (m as MetricLimits<"latency">).below("1 s")) },
    "assert.0",
    /no metric/,
  ],
  [
    "a percentile of 0",
    { assert: [untypedPercentile(0).below("1 s")] },
    "assert.0",
    /must have a percentile of 1 or more/,
  ],
  [
    "a percentile as a ratio",
    { assert: [untypedPercentile(0.99).below("1 s")] },
    "assert.0",
    /must have a percentile of 1 or more/,
  ],
  [
    "a statistic that a metric lacks",
    { assert: [untyped(p99)("serverQueue")].map((m) => (m as MetricLimits<"latency">).below("1 s")) },
    "assert.0",
    /must be a statistic that serverQueue has: mean/,
  ],
  ["a bare percentage", { assert: [untyped(errorRate().below)(5)] }, "assert.0", /percentage with its sign/],
  ["more than all", { assert: [errorRate().below("101 %")] }, "assert.0", /must be 100 % or less/],
  ["a throughput as text", { assert: [untyped(throughput().above)("9")] }, "assert.0", /must be a number/],
  [
    "the queue of a server without one",
    { target: http("http://h/"), assert: [mean("serverQueue").below("1 s")] },
    "assert.0",
    /serverQueue needs a server that reports/,
  ],
  [
    "GPUs that are not read",
    { assert: [max("gpuUtilization").below("90 %")] },
    "assert.0",
    /gpuUtilization needs the server's page of metrics/,
  ],
  [
    "the server's queue before the end",
    { assert: [mean("serverQueue").below("1 s").abortAfter("1 s")] },
    "assert.0",
    /serverQueue is read at the end/,
  ],
  [
    "the server's queue of a part",
    { tags: { a: 1 }, assert: [mean("serverQueue").where({ a: 1 }).below("1 s")] },
    "assert.0",
    /all requests of a server/,
  ],
  ["tokens of tensors", { assert: [untypedMetric("totalTokensPerSec").below(1)] }, "assert.0", /tensors, not tokens/],
  ["a metric of reports", { assert: [untypedMetric("highestLoad").below(1)] }, "assert.0", /no metric/],
  ["scheduledLatency of a closed load", { assert: [mean("scheduledLatency").below("1 s")] }, "assert.0", /schedule/],
];

describe("a mistake is named by its path", () => {
  for (const [name, change, path, message] of [...fields, ...targets, ...loads, ...others]) {
    test(`${name} (${path})`, () => {
      const problems = problemsOf({ ...least, ...change });
      assert.deepEqual(
        problems.map((problem) => word(problem.path)),
        [path],
      );
      assert.match(word(problems[0]?.message ?? ""), message);
      assert.ok(
        problems[0]?.hint !== "" || /\bmust\b/.test(String(problems[0]?.message)),
        "nothing says what to write",
      );
    });
  }

  test("a sound scenario has none", () => {
    assert.deepEqual(problemsOf(least), []);
  });

  test("values are shown as given", () => {
    const shownValue = (change: Record<string, unknown>) => problemsOf({ ...least, ...change })[0]?.value;
    assert.equal(shownValue({ name: 7 }), "7");
    assert.equal(shownValue({ name: { long: "x".repeat(100) } })?.length, 80);
    assert.equal(shownValue({ warmupRequests: Number.NaN }), "NaN");
    assert.equal(shownValue({ warmupRequests: 5n }), "5");
    assert.equal(shownValue({ stallTimeout: "60" }), '"60"');
    assert.equal(shownValue({ target: embedded }), "a function, which was not called");
    assert.equal(shownValue({ target: anyEmbedded({ streaming: true }) }), "true");
  });
});

describe("mistakes are reported together", () => {
  test("missing fields", () => {
    const told = problemsOf({}).map(({ path, message }) => `${path} ${message}`);
    assert.deepEqual(told, ["target is missing", "load is missing"]);
  });

  test("no scenario at all", () => {
    assert.deepEqual(
      problemsOf(undefined).map(({ path }) => path),
      ["the scenario"],
    );
  });

  test("in every part of the scenario", () => {
    const problems = problemsOf({
      name: "",
      target: anyTriton("", { model: 3, streaming: true, batchsize: 1 }),
      load: anyHold(1, { for: "1 s", requests: 1 }),
      inputs: untyped(random)({ stringLength: "x" }),
      assert: [5, errorRate().is(0), untyped(p99().below)(1)],
      stability: { trials: 2, percentile: 100 },
      client: "x",
      surplus: 1,
    });
    assert.deepEqual(problems.map((problem) => word(problem.path)).sort(), [
      "assert.0",
      "assert.2",
      "client",
      "inputs.stringLength",
      "load.requests",
      "name",
      "stability.percentile",
      "stability.trials",
      "surplus",
      "target.batchsize",
      "target.model",
      "target.streaming",
      "target.url",
    ]);
  });

  test("between the parts of the scenario", () => {
    const problems = problemsOf({
      ...least,
      client: "grpc-js",
      load: ramp(4, 1),
      assert: [errorRate().is(0), p99("scheduledLatency").below("1 s")],
    });
    assert.deepEqual(
      problems.map(({ path }) => path),
      ["load", "client", "assert.1"],
    );
  });

  test("those of the command line as overrides", () => {
    const problems = problemsOf({ ...least, target: embedded() }, { urls: ["h:1"], client: "grpc-js" });
    assert.deepEqual(
      problems.map(({ path }) => word(path)),
      ["overrides.client", "overrides.url"],
    );
  });
});

test("all unknown fields are reported together, each with the nearest name", () => {
  const problems = problemsOf({
    ...least,
    nme: "x",
    asserts: [],
    anything: 1,
    target: anyTriton("host:1", { modle: "m", model: "m", protcol: "grpc" }),
    load: anyHold(1, { reqests: 5 }),
  });
  assert.deepEqual(
    problems.map(({ path, hint }) => [path, /^Did you mean (\w+)\?$/.exec(word(hint))?.[1]]).toSorted(),
    [
      ["anything", undefined],
      ["asserts", "assert"],
      ["load.reqests", "requests"],
      ["nme", "name"],
      ["target.modle", "model"],
      ["target.protcol", "protocol"],
    ],
  );
  assert.match(
    word(problems.find(({ path }) => path === "anything")?.hint ?? ""),
    /The options are name, target, load, /,
  );
});
