import * as api from "rampart";
import {
  type ChainCall,
  defineScenario,
  defineTarget,
  embedded,
  embeddedLlm,
  errorRate,
  extracted,
  findMax,
  fixedSchedule,
  goodput,
  hold,
  input,
  intervals,
  max,
  mean,
  metric,
  min,
  mix,
  mlperf,
  openai,
  outputTokensPerSec,
  p50,
  p90,
  p95,
  p99,
  param,
  percentile,
  periodic,
  perTarget,
  phase,
  ramp,
  rate,
  rateRamp,
  rateSteps,
  http as restApi,
  sessions,
  soak,
  spike,
  steps,
  throughput,
  torchserve,
  trace,
  triton,
  warmup,
} from "rampart";

/** What compiles and what does not. Nothing here runs: `tsc -p .` fails when a mistake compiles or a sound scenario does not. */

const overHttp = triton("localhost:8000", { model: "simple" });
const overGrpc = triton("localhost:8001", { protocol: "grpc", model: "simple", streaming: true });
const http = { name: "over HTTP", target: overHttp };
const grpc = { name: "over gRPC", target: overGrpc };
const closed = { ...http, load: hold(1) };
const scheduled = { ...http, load: rate(100) };
const inPhases = { ...http, load: [warmup("1 s", hold(1)), ramp(1, 4)] };
const soaking = { ...http, load: soak(4, { for: "1 h" }) };

const chat = openai("localhost:8000", { model: "m", streaming: true });
const atOnce = openai("localhost:8000", { model: "m" });
const vectors = openai("localhost:8000", { model: "m", endpoint: "embeddings" });
const llm = { name: "a language model", load: hold(1), inputs: input.prompts({ isl: 10 }) };

/** Texts that the compiler does not know. */
const textOfUser: string = "{{user}}";
const wideBody: { readonly [name: string]: string } = { a: "{{user}}" };
const madeCalls: readonly ChainCall[] = [{ path: "/{{none}}" }];

/** Sound scenarios. */
export const sound = [
  defineScenario({ name: "least", target: embedded(), load: hold(1) }),
  defineScenario({
    ...http,
    load: [warmup({ requests: 5 }, hold(1)), ramp(1, 4), phase("busy", rate(5)), soak(4, { for: "1 h" })],
    assert: [p99("scheduledLatency").below("1 s"), p99().below("1 s").abortAfter("10 s"), errorRate().is(0)],
  }),
  defineScenario({ ...http, load: [1, 2, 4].map((users) => hold(users, { for: "1 s" })) }),
  defineScenario({ ...http, load: ({ users }) => [hold(users), rate(users)], params: { users: param.integer(4) } }),
  defineScenario({
    ...http,
    load: spike({ base: rate(5), peak: 64, at: "1 s", for: "1 s" }),
    assert: [p99("scheduledLatency").below("1 s"), throughput().above(1).abortAfter("1 s")],
  }),
  defineScenario({ ...closed, target: torchserve("h", { model: "m", body: "raw" }), inputs: input.files(["a", "b"]) }),
  defineScenario({ ...closed, metrics: { url: "host:8002/metrics", every: "1 s" } }),
  defineScenario({
    name: "everything",
    target: triton("https://host:8000/prefix", {
      protocol: "http",
      model: "simple",
      version: "1",
      batchSize: 8,
      shapes: { IN: [3, 224] },
      sharedMemory: "cuda",
      headers: { authorization: "Bearer x" },
      tls: { ca: "ca.pem", cert: "cert.pem", key: "key.pem", verify: false },
      inputTensorFormat: "json",
      outputTensorFormat: "binary",
    }),
    load: rateSteps([10, 20.5], { distribution: "poisson", seed: 1, for: "2 min" }),
    inputs: input.json("./a.json", "./b.json"),
    assert: [
      p50().below("250 us"),
      p90("latency").atMost("25ms"),
      p95("scheduledLatency").below("5 s"),
      p99("scheduledLatency").above("1.5 ms"),
      percentile(99.9, "scheduledLatency").atLeast("1 h"),
      percentile(75).below("1 min"),
      mean().below("1 ms"),
      mean("scheduledLatency").below("1 ms"),
      throughput().atLeast(100),
      errorRate().below("1 %"),
      max().below("1 min"),
      min("scheduledLatency").above("1 us"),
      mean("serverQueue").below("10 ms"),
      metric("serverCacheHits").atLeast("50 %"),
      mean("gpuUtilization").below("90%"),
      max("gpuMemoryUsed").below(16_000),
    ],
    repeat: { atLeast: 3, atMost: 10, until: p99("latency").within("5 %") },
    warmupRequests: 10,
    warmupFor: "10 s",
    cancel: { share: "5 %", after: "60 ms", seed: 1 },
    stability: { window: "1 s", within: "5 %", trials: 5, percentile: 95 },
    latencyLimit: "1 s",
    maxErrorRate: "10 %",
    client: "undici",
    stallTimeout: "10 s",
    maxResponseBytes: 1_000_000,
  }),
  defineScenario({ ...grpc, load: ramp(1, 50, { step: 7 }), client: "grpc-js" }),
  defineScenario({ ...closed, repeat: 5 }),
  defineScenario({
    name: "a chain",
    target: restApi("host"),
    load: sessions(4, { for: "1 min" }),
    inputs: input.chain(
      [
        {
          path: "/login",
          body: { user: "{{user}}" },
          extract: { token: "a.b", job: { header: "Location" } },
          once: true,
        },
        { path: "{{job}}", headers: { A: "Bearer {{ token }} {{user}}" }, body: [{ a: ["{{token}}"] }, 5, null] },
        {
          path: `/${textOfUser}`,
          body: wideBody,
          thinkTime: { mean: "1 s", stddev: "1 s" },
          extract: { id: { cookie: "id" } },
        },
        { path: "/{{id}}/{{}}/{{#each}}/{{a b}}/{{ a.b }}", method: "PUT", body: new Uint8Array(4) },
      ],
      { users: [{ user: "a" }, { user: "b" }], count: 4 },
    ),
  }),
  defineScenario({ name: "made", target: restApi("host"), load: sessions(4), inputs: input.chain(madeCalls) }),
  defineScenario({ ...http, load: [hold(1, { for: "1m" }), hold(1, { for: "1m30s" }), hold(1, { for: "500ms" })] }),
  defineScenario({
    ...http,
    load: [hold(1, { for: "2 min" }), hold(1, { for: "1h30m" }), hold(1, { for: "1 h 30 min" })],
  }),
  defineScenario({ ...closed, repeat: { until: throughput().within("2.5%") } }),
  defineScenario({ ...http, load: rate(10), repeat: { until: p99("scheduledLatency").within("5 %") } }),
  defineScenario({ ...grpc, load: ramp(1, 50, { step: 7, requests: 100 }), client: "own" }),
  defineScenario({ ...grpc, load: ramp(50, 1, { over: "2 min" }), inputs: input.random({ stringLength: 3 }) }),
  defineScenario({ ...http, load: steps([1, 2, 4], { for: "1 s" }), inputs: input.zero({ stringData: "x" }) }),
  defineScenario({
    ...http,
    load: rate(100, { distribution: "gamma", smoothness: 0.5, concurrencyLimit: 64, rampUp: "10 s", for: "1 min" }),
    assert: [p99("scheduledLatency").below("1 s")],
  }),
  defineScenario({
    ...http,
    load: rateRamp(10, 500, { over: "1 min", distribution: "poisson", seed: 1 }),
    assert: [p99("scheduledLatency").below("1 s")],
  }),
  defineScenario({ ...http, load: hold(16, { rampUp: "10 s", requests: 1000 }) }),
  defineScenario({
    ...http,
    load: fixedSchedule({ from: "1 s", to: "2 min", speed: 2 }),
    inputs: input.json("a.json"),
  }),
  defineScenario({ ...http, load: fixedSchedule({ startsAtFirst: true }), inputs: input.json("a.json") }),
  defineScenario({ ...http, load: hold(16, { requests: 1000 }), assert: [p99("latency").below("25 ms")] }),
  defineScenario({
    name: "embedded over gRPC",
    target: embedded({ protocol: "grpc", streaming: true, latency: "normal:5ms:1 ms", errorRate: "10 %" }),
    load: hold(1),
    client: "grpc-js",
  }),
  defineScenario({ target: embedded(), load: hold(1) }),
  defineScenario({
    name: "embedded over HTTP",
    target: embedded({ latency: "uniform:1ms:9ms", responseBytes: 1024, batchSize: 8 }),
    load: hold(1),
    client: "undici",
  }),
];

/** Fields of scenarios. */
export const wrongFields = [
  // @ts-expect-error A scenario has a target.
  defineScenario({ name: "x", load: hold(1) }),
  // @ts-expect-error A scenario has a load.
  defineScenario({ name: "x", target: overHttp }),
  // @ts-expect-error A misspelt field.
  defineScenario({ ...closed, asserts: [] }),
  // @ts-expect-error The target is made by a builder.
  defineScenario({ ...closed, target: "localhost:8000" }),
  // @ts-expect-error The load is made by a builder.
  defineScenario({ ...http, load: 16 }),
  // @ts-expect-error The inputs are made by a builder.
  defineScenario({ ...closed, inputs: "random" }),
  // @ts-expect-error An assertion needs its limit.
  defineScenario({ ...closed, assert: [p99()] }),
  // @ts-expect-error No load of the list has a schedule.
  defineScenario({ ...inPhases, assert: [p99("scheduledLatency").below("1 s")] }),
  // @ts-expect-error A concurrency has no schedule.
  defineScenario({ ...soaking, assert: [p99("scheduledLatency").below("1 s")] }),
  // @ts-expect-error A warm-up needs a load.
  defineScenario({ ...http, load: [warmup("1 s"), hold(1)] }),
  // @ts-expect-error The length of a spike is missing.
  defineScenario({ ...http, load: spike({ base: 1, peak: 2, at: "1 s" }) }),
  // @ts-expect-error A bare number is no duration.
  defineScenario({ ...closed, assert: [p99().below("1 s").abortAfter(10)] }),
  // @ts-expect-error It is given once.
  defineScenario({ ...closed, assert: [p99().below("1 s").abortAfter("1 s").abortAfter("1 s")] }),
  // @ts-expect-error Assertions are a list.
  defineScenario({ ...closed, assert: errorRate().is(0) }),
  // @ts-expect-error A misspelt field of stability.
  defineScenario({ ...closed, stability: { windows: "1 s" } }),
  // @ts-expect-error A share is needed.
  defineScenario({ ...closed, cancel: { after: "60 ms" } }),
  // @ts-expect-error A bare number is no duration.
  defineScenario({ ...closed, warmupFor: 10 }),
  // @ts-expect-error Text is not a number.
  defineScenario({ ...closed, warmupRequests: "10" }),
];

/** Units and durations. */
export const wrongUnits = [
  // @ts-expect-error A bare number is refused.
  hold(1, { for: 5 }),
  // @ts-expect-error Text without a unit.
  hold(1, { for: "5" }),
  // @ts-expect-error There is no unit sec.
  hold(1, { for: "5 sec" }),
  // @ts-expect-error There is no unit d.
  ramp(1, 4, { over: "2 d" }),
  // @ts-expect-error Seconds come after minutes.
  ramp(1, 4, { over: "30s1m" }),
  // @ts-expect-error The second part has no unit.
  ramp(1, 4, { over: "1m30" }),
  // @ts-expect-error A bare number is refused.
  p99("latency").below(25),
  // @ts-expect-error Nanoseconds are not written.
  p99("latency").below("25 ns"),
  // @ts-expect-error No number before the unit.
  mean().atMost("fast ms"),
  // @ts-expect-error A throughput has no unit.
  throughput().above("100 infer/s"),
  // @ts-expect-error A ratio has its sign.
  errorRate().below(0.01),
  // @ts-expect-error A ratio has its sign.
  errorRate().below("1"),
  // @ts-expect-error A percentage has its sign.
  errorRate().below(1),
  // @ts-expect-error A percentage has its sign.
  errorRate().is(1),
  // @ts-expect-error A percentage has its sign.
  metric("serverCacheHits").atLeast(0.5),
  // @ts-expect-error A percentile is from 1 to below 100.
  percentile(0.99),
  // @ts-expect-error A percentile is from 1 to below 100.
  percentile(100),
  // @ts-expect-error A percentile is from 1 to below 100.
  percentile(0.99, "latency"),
  // @ts-expect-error A percentile is from 1 to below 100.
  extracted("x").percentile(0.5),
  // @ts-expect-error A drift has its sign.
  soak(4, { for: "1 h", maxDrift: 0.1 }),
  // @ts-expect-error Its old name.
  soak(4, { for: "1 h", maxDriftPercent: 10 }),
  // @ts-expect-error A tolerance has its sign.
  spike({ base: 1, peak: 2, at: "1 s", for: "1 s", within: 20 }),
  // @ts-expect-error A share has its sign.
  defineScenario({ ...closed, cancel: { share: 0.1 } }),
  // @ts-expect-error An error rate has its sign.
  defineScenario({ ...closed, maxErrorRate: 0.01 }),
  // @ts-expect-error A tolerance has its sign.
  defineScenario({ ...closed, stability: { within: 10 } }),
  // @ts-expect-error A variation has its sign.
  defineScenario({ ...closed, sequences: { variation: 20 } }),
  // @ts-expect-error A share has its sign.
  embedded({ errorRate: 0.01 }),
  // @ts-expect-error A share has its sign.
  input.prompts({ lengths: [{ isl: 1, osl: 1, share: 100 }] }),
  // @ts-expect-error A bare number is refused.
  defineScenario({ ...closed, stallTimeout: 60 }),
  // @ts-expect-error A bare number is refused.
  defineScenario({ ...closed, latencyLimit: 100 }),
  // @ts-expect-error A bare number is refused.
  defineScenario({ ...closed, stability: { window: 5000 } }),
  // @ts-expect-error A bare number is refused.
  embedded({ latency: 5 }),
  // @ts-expect-error A precision is a percentage.
  p99("latency").within(5),
  // @ts-expect-error An error rate of 0 has no percentage.
  errorRate().within("5 %"),
  // @ts-expect-error A repetition ends with a precision, not with an assertion.
  defineScenario({ ...closed, repeat: { until: p99("latency").below("5 ms") } }),
  // @ts-expect-error Only a load with a schedule has due times.
  defineScenario({ ...closed, repeat: { until: p99("scheduledLatency").within("5 %") } }),
  // @ts-expect-error The target has no tokens.
  defineScenario({ ...closed, repeat: { until: p99("timeToFirstToken").within("5 %") } }),
];

/** Targets. */
export const wrongTargets = [
  // @ts-expect-error A target needs its model.
  triton("localhost:8000", {}),
  // @ts-expect-error A target needs its options.
  triton("localhost:8000"),
  // @ts-expect-error An address is text.
  triton(8000, { model: "simple" }),
  // @ts-expect-error A misspelt option.
  triton("localhost:8000", { model: "simple", batchsize: 2 }),
  // @ts-expect-error There is no such protocol.
  triton("localhost:8000", { protocol: "https", model: "simple" }),
  // @ts-expect-error Streams are gRPC's, and HTTP is the default.
  triton("localhost:8000", { model: "simple", streaming: true }),
  // @ts-expect-error Streams are gRPC's.
  triton("localhost:8000", { protocol: "http", model: "simple", streaming: true }),
  // @ts-expect-error: nor are requests compressed
  triton("localhost:8000", { protocol: "http", model: "simple", compression: "gzip" }),
  // @ts-expect-error Tensor formats are HTTP's.
  triton("localhost:8001", { protocol: "grpc", model: "simple", inputTensorFormat: "json" }),
  // @ts-expect-error A header's value is text.
  triton("localhost:8000", { model: "simple", headers: { "x-a": 1 } }),
  // @ts-expect-error Sizes are numbers.
  triton("localhost:8000", { model: "simple", shapes: { IN: "3,224" } }),
  // @ts-expect-error A misspelt option of TLS.
  triton("localhost:8000", { model: "simple", tls: { insecure: true } }),
  // @ts-expect-error The embedded target has one model.
  embedded({ model: "simple" }),
  // @ts-expect-error Streams are gRPC's.
  embedded({ streaming: true }),
  // @ts-expect-error There is no such distribution.
  embedded({ latency: "gauss:5ms:1ms" }),
  // @ts-expect-error A uniform distribution has two ends.
  embedded({ latency: "uniform:5ms" }),
];

/** Clients, which each speak one protocol. */
export const wrongClients = [
  // @ts-expect-error undici speaks HTTP.
  defineScenario({ ...grpc, load: hold(1), client: "undici" }),
  // @ts-expect-error grpc-js speaks gRPC.
  defineScenario({ ...closed, client: "grpc-js" }),
  // @ts-expect-error undici speaks HTTP.
  defineScenario({ name: "x", target: embedded({ protocol: "grpc" }), load: hold(1), client: "undici" }),
  // @ts-expect-error grpc-js speaks gRPC.
  defineScenario({ name: "x", target: embedded(), load: hold(1), client: "grpc-js" }),
  // @ts-expect-error There is no such client.
  defineScenario({ ...closed, client: "fetch" }),
];

/** Loads. */
export const wrongLoads = [
  // @ts-expect-error A level is measured over a time or over requests.
  hold(1, { for: "1 s", requests: 10 }),
  // @ts-expect-error A level is measured over a time or over requests.
  steps([1, 2], { for: "1 s", requests: 10 }),
  // @ts-expect-error A level is measured over a time or over requests.
  ramp(1, 4, { for: "1 s", requests: 10 }),
  // @ts-expect-error A level is measured over a time or over requests.
  rate(100, { for: "1 s", requests: 10 }),
  // @ts-expect-error A ramp in time has no levels.
  ramp(1, 4, { over: "1 min", step: 1 }),
  // @ts-expect-error A ramp in time has its length.
  ramp(1, 4, { over: "1 min", for: "1 s" }),
  // @ts-expect-error A ramp in time has its length.
  ramp(1, 4, { over: "1 min", requests: 10 }),
  // @ts-expect-error A ramp has an end.
  ramp(1),
  // @ts-expect-error Levels are numbers.
  ramp("1", "4"),
  // @ts-expect-error Levels are a list.
  steps(1, 2, 4),
  // @ts-expect-error One level has no steps.
  hold(1, { step: 2 }),
  // @ts-expect-error One rate has no steps.
  rate(100, { step: 2 }),
  // @ts-expect-error There is no such distribution.
  rate(100, { distribution: "uniform" }),
  // @ts-expect-error A schedule has no length of its own to give.
  fixedSchedule({ for: "1 s" }),
  // @ts-expect-error The first id and the end.
  defineScenario({ ...http, load: hold(1), sequences: { ids: [1] } }),
  // @ts-expect-error Only gamma has a shape.
  rate(100, { distribution: "poisson", smoothness: 2 }),
  // @ts-expect-error A ramp in time has no rates one by one.
  rateRamp(1, 100, { over: "1 s", step: 5 }),
  // @ts-expect-error Several rates are rateSteps.
  rate([10, 20]),
  // @ts-expect-error Rates are a list.
  rateSteps(10),
  // @ts-expect-error A search is over a load.
  findMax({ range: 64, where: [p99().below("1 s")] }),
  // @ts-expect-error A ramp of rates has its length.
  rateRamp(1, 100, { over: "1 s", requests: 5 }),
  // @ts-expect-error A bare duration.
  hold(16, { rampUp: 10 }),
  // @ts-expect-error Levels are there at once.
  steps([1, 2], { rampUp: "1 s" }),
  // @ts-expect-error A closed load has no limit of its own.
  hold(16, { concurrencyLimit: 4 }),
  // @ts-expect-error It begins at a time or with its first entry.
  fixedSchedule({ from: "1 s", startsAtFirst: true }),
  // @ts-expect-error A closed load has no distribution.
  hold(1, { distribution: "poisson" }),
];

/** Inputs. */
export const wrongInputs = [
  // @ts-expect-error A file is missing.
  input.json(),
  // @ts-expect-error Files are given one by one.
  input.json(["./a.json"]),
  // @ts-expect-error A misspelt option.
  random({ length: 3 }),
  // @ts-expect-error A length is a number.
  input.zero({ stringLength: "3" }),
];

/** Metrics and comparisons. */
export const wrongMetrics = [
  // @ts-expect-error There is no such latency.
  p99("latencies").below("1 ms"),
  // @ts-expect-error Only its mean is known.
  max("serverQueue").below("1 ms"),
  // @ts-expect-error A latency has statistics.
  metric("latency"),
  // @ts-expect-error A utilization is a ratio.
  max("gpuUtilization").below(0.9),
  // @ts-expect-error Images are measured in GenAI-Perf's mode only.
  p99("timePerImage"),
  // @ts-expect-error There is no such latency.
  mean("sendDelay").below("1 ms"),
  // @ts-expect-error A percentile is a number.
  percentile("p99").below("1 ms"),
  // @ts-expect-error A throughput has one meaning.
  throughput("latency").above(1),
  // @ts-expect-error No latency is exactly something.
  p99().is("1 ms"),
  // @ts-expect-error No throughput is exactly something.
  throughput().is(100),
  // @ts-expect-error Nobody asks for errors.
  errorRate().above(0.1),
  // @ts-expect-error There is no such comparison.
  p99().lessThan("1 ms"),
  // @ts-expect-error A closed load has no intended send.
  defineScenario({ ...closed, assert: [p99("scheduledLatency").below("1 ms")] }),
  // @ts-expect-error A closed load has no intended send.
  defineScenario({ ...http, load: ramp(1, 4), assert: [mean("scheduledLatency").below("1 ms")] }),
  // @ts-expect-error A closed load has no intended send.
  defineScenario({ ...http, load: steps([1]), assert: [percentile(75, "scheduledLatency").below("1 ms")] }),
  // @ts-expect-error A ramp in time is closed, too.
  defineScenario({ ...grpc, load: ramp(1, 4, { over: "1 s" }), assert: [p50("scheduledLatency").below("1 ms")] }),
  defineScenario({ ...scheduled, assert: [p99("scheduledLatency").below("1 ms")] }),
  defineScenario({ ...http, load: intervals("gaps.txt"), assert: [p99("scheduledLatency").below("1 ms")] }),
  defineScenario({ ...http, load: fixedSchedule(), assert: [p99("scheduledLatency").below("1 ms")] }),
  // @ts-expect-error Groups are paced by responses, not by a schedule.
  defineScenario({ ...grpc, load: periodic(1, 4), assert: [p99("scheduledLatency").below("1 ms")] }),
  // @ts-expect-error There is no such metric.
  api.p999().below("1 ms"),
];

/** Generative models. */
export const generative = [
  defineScenario({
    ...llm,
    target: chat,
    load: rate(10),
    assert: [
      p99("timeToFirstToken").below("200 ms"),
      mean("interTokenLatency").atMost("20 ms"),
      p50("outputTokensPerSecPerUser").atLeast(20),
      p99("scheduledLatency").below("1 s"),
      outputTokensPerSec().above(10),
      goodput({ timeToFirstToken: "1 s", latency: "2 s" }).atLeast(1),
      errorRate().is(0),
      throughput().above(1),
    ],
  }),
  defineScenario({
    ...llm,
    target: atOnce,
    assert: [mean("outputTokens").atMost(9), outputTokensPerSec().above(1)],
  }),
  defineScenario({ ...llm, target: vectors, inputs: input.payloads("a.json"), assert: [p99("latency").below("1 s")] }),
  defineScenario({ ...llm, target: embeddedLlm({ streaming: true }), assert: [p99("timeToSecondToken").below("1 s")] }),
  // @ts-expect-error A model has its name.
  openai("localhost:8000", { streaming: true }),
  // @ts-expect-error There is no such endpoint.
  openai("localhost:8000", { model: "m", endpoint: "talk" }),
  // @ts-expect-error TorchServe takes files.
  defineScenario({ ...closed, target: torchserve("h", { model: "m" }), inputs: input.prompts() }),
  // @ts-expect-error Tensors are no files.
  defineScenario({ ...closed, target: torchserve("h", { model: "m" }), inputs: input.random() }),
  // @ts-expect-error A form or raw bytes.
  torchserve("h", { model: "m", body: "json" }),
  defineScenario({
    ...closed,
    target: torchserve("h", { model: "m" }),
    // @ts-expect-error Its responses have no tokens.
    assert: [p99("timeToFirstToken").below("1 s")],
  }),
  // @ts-expect-error A language model takes no files.
  defineScenario({ ...llm, target: chat, inputs: input.files("*.jpg") }),
  // @ts-expect-error A length is tokens.
  input.prompts({ isl: "550" }),
  // @ts-expect-error A time has a unit.
  p99("timeToFirstToken").below(200),
  // @ts-expect-error A count has none.
  p99("outputTokens").below("9 ms"),
  // @ts-expect-error There is no such limit.
  goodput({ ttft: "1 s" }),
  // @ts-expect-error Goodput is a number of requests per second.
  goodput({ latency: "1 s" }).atLeast("1 s"),
  defineScenario({ ...closed, assert: [goodput({ latency: "1 s" }).atLeast(1)] }),
  defineScenario({ ...closed, load: rate(1), assert: [goodput({ latency: "1 s", scheduledLatency: "2 s" }).above(1)] }),
  // @ts-expect-error A closed load has no intended send.
  defineScenario({ ...closed, load: steps([1]), assert: [goodput({ scheduledLatency: "1 s" }).atLeast(1)] }),
  // @ts-expect-error Tensors have no first token.
  defineScenario({ ...closed, assert: [goodput({ latency: "1 s", timeToFirstToken: "1 s" }).atLeast(1)] }),
  // @ts-expect-error What comes at once has no first token.
  defineScenario({ ...llm, target: atOnce, assert: [p99("timeToFirstToken").below("1 s")] }),
  // @ts-expect-error Vectors have no tokens.
  defineScenario({ ...llm, target: vectors, assert: [outputTokensPerSec().above(1)] }),
  // @ts-expect-error Tensors have no tokens.
  defineScenario({ ...closed, assert: [p99("interTokenLatency").below("1 s")] }),
  // @ts-expect-error A language model takes no tensors.
  defineScenario({ ...llm, target: chat, inputs: input.random() }),
  // @ts-expect-error Tensors are no prompts.
  defineScenario({ ...closed, inputs: input.prompts() }),
  // @ts-expect-error It is spoken to over HTTP.
  defineScenario({ ...llm, target: chat, client: "grpc-js" }),
];

/** Methods of any gRPC service: a target has its messages, or those of a file or generator. */
const echo = { method: "demo.v1.Text/Echo" } as const;
const echoing = { name: "x", load: hold(1), client: "grpc-js" } as const;
export const methods = [
  defineScenario({ ...echoing, target: api.grpc("h", { ...echo, message: { text: "a", count: 1n } }) }),
  defineScenario({
    ...echoing,
    target: api.grpc(["h", "i"], { ...echo, calls: [{}, [{}, {}]], extract: { score: "score" } }),
    assert: [extracted("score").mean().above(1)],
  }),
  defineScenario({ ...echoing, target: api.grpc("h", { ...echo, file: "in.json", pacing: "after-response" }) }),
  defineScenario({ ...echoing, target: api.grpc("h", { ...echo, generator: "python3 make.py", proto: "a.proto" }) }),
  // @ts-expect-error It takes one of them.
  grpc("h", { ...echo, file: "a", generator: "b" }),
  // @ts-expect-error Messages in a scenario are for grpc(…).
  grpc("h", { ...echo, message: {} }),
  // @ts-expect-error A method has a service.
  grpc("h", { method: "Echo", file: "a" }),
  // @ts-expect-error A message is an object or bytes.
  api.grpc("h", { ...echo, message: "text" }),
  // @ts-expect-error It has its messages, and takes no tensors.
  defineScenario({ ...echoing, target: api.grpc("h", { ...echo, file: "a" }), inputs: input.random() }),
  // @ts-expect-error It speaks gRPC.
  defineScenario({ ...echoing, target: api.grpc("h", { ...echo, file: "a" }), client: "undici" }),
];

/** Targets of the user's own: types flow from `encode` and `decode`. */
const doubling = defineTarget({
  name: "doubling",
  protocol: "grpc",
  encode: (value: number) => ({ method: "a.B/C", message: Uint8Array.of(value) }),
  decode: ({ bytes }) => ({ result: bytes[0] ?? 0 }),
  check: ({ result }, value) => result === value * 2,
  extract: { result: ({ result }) => result },
});
export const ownTargets = [
  defineScenario({
    name: "x",
    target: doubling("h", { inputs: [1, 2] }),
    load: hold(1),
    client: "grpc-js",
    assert: [extracted("result").mean().above(1)],
  }),
  defineScenario({
    name: "x",
    target: doubling("h", {
      inputs: function* () {
        yield 1;
      },
    }),
    load: hold(1),
  }),
  // @ts-expect-error Inputs are numbers.
  doubling("h", { inputs: ["1"] }),
  // @ts-expect-error It needs inputs.
  doubling("h", {}),
  // @ts-expect-error A gRPC call has a method and no path.
  defineTarget({ name: "x", protocol: "grpc", encode: () => ({ path: "/" }) }),
  // @ts-expect-error A request over HTTP has a path.
  defineTarget({ name: "x", encode: () => ({ method: "a.B/C", message: new Uint8Array(1) }) }),
  // @ts-expect-error Only gRPC calls have several messages.
  defineTarget({ name: "x", streaming: true, encode: () => ({ path: "/" }) }),
  defineTarget({
    name: "x",
    encode: (text: string) => ({ path: "/", body: text }),
    decode: () => ({ score: 1 }),
    // @ts-expect-error The output has no such field.
    check: ({ missing }) => missing,
  }),
  defineScenario({
    name: "x",
    target: doubling("h", { inputs: [1] }),
    load: hold(1),
    // @ts-expect-error Its responses have no tokens.
    assert: [outputTokensPerSec().above(1)],
  }),
];

const params = {
  users: param.integer(16, { min: 1 }),
  share: param.number(),
  errors: param.percent("1 %"),
  pace: param.duration("1 s"),
  protocol: param.choice(["http", "grpc"]),
  model: param.text({ secret: true }),
  isSlow: param.flag(),
};
const base = defineScenario({
  params,
  name: ({ model, users }) => `${model} for ${users}`,
  target: ({ model, isSlow }) => openai("h", { model, streaming: true, path: isSlow ? "/slow" : "/" }),
  load: ({ users, pace }) => rate(users, { for: pace }),
  inputs: ({ users }) => input.prompts({ isl: users }),
  assert: ({ share }) => [goodput({ timeToFirstToken: "1 s" }).atLeast(share), p99("scheduledLatency").below("1 s")],
  maxErrorRate: ({ errors }) => errors,
});

/** Sound scenarios with parameters. */
export const withParameters = [
  base,
  defineScenario({ ...base.definition, name: "another name" }),
  defineScenario({
    ...base.definition,
    params: { ...params, depth: param.integer(1) },
    warmupRequests: ({ depth }) => depth,
  }),
  defineScenario({ params, name: "p", target: ({ protocol }) => embedded({ protocol }), load: hold(1) }),
  defineScenario({
    params,
    name: "p",
    target: ({ protocol, model }) => triton("h", { protocol, model }),
    load: hold(1),
    inputs: input.zero(),
  }),
];

/** Mistakes with parameters. */
export const wrongParameters = [
  // @ts-expect-error There is no such parameter.
  defineScenario({ ...closed, params, load: ({ userCount }) => hold(userCount) }),
  // @ts-expect-error Without params, there are no values.
  defineScenario({ ...closed, load: ({ users }) => hold(users) }),
  // @ts-expect-error A duration is no number.
  defineScenario({ ...closed, params, load: ({ pace }) => hold(pace) }),
  // @ts-expect-error Text is no duration.
  defineScenario({ ...closed, params, load: ({ model }) => hold(1, { for: model }) }),
  defineScenario({
    ...closed,
    params,
    load: ({ users }) => hold(users),
    // @ts-expect-error A closed load has no schedule.
    assert: [p99("scheduledLatency").below("1 s")],
  }),
  defineScenario({
    params: { p: param.choice(["http", "h2"]) },
    // @ts-expect-error One of the values is not a protocol.
    target: ({ p }) => embedded({ protocol: p }),
    load: hold(1),
    name: "",
  }),
  // @ts-expect-error A parameter is made by a builder.
  defineScenario({ ...closed, params: { users: 16 } }),
  // @ts-expect-error The base measures over HTTP.
  defineScenario({ ...base.definition, client: "grpc-js" }),
  // @ts-expect-error A wrong default.
  param.integer("16"),
  // @ts-expect-error A duration needs a unit.
  param.duration("5"),
  // @ts-expect-error A percentage has its sign.
  param.percent(5),
  // @ts-expect-error An unknown option.
  param.integer(16, { minimum: 1 }),
];

const twoModels = mix([
  { name: "tensors", target: overGrpc, inputs: input.json("a.json"), weight: 9 },
  {
    name: "chat",
    target: chat,
    inputs: input.prompts({ isl: 10 }),
    tags: ({ isl, target }) => ({ isl, target2: target }),
  },
]);

/** Sound scenarios of several targets, and with tags. */
export const withGroups = [
  defineScenario({
    name: "m",
    target: twoModels,
    load: hold(1),
    assert: [
      p99().where({ target: "chat" }).below("1 s"),
      p99("timeToFirstToken").where({ target: "chat" }).below("1 s"),
      throughput().where({ team: "x", batch: 8, warm: true }).above(1),
      errorRate().where({}).is(0),
      goodput({ latency: "1 s" }).where({ target: "chat" }).atLeast(1),
      outputTokensPerSec().where({ target: "chat" }).atLeast(1),
    ],
  }),
  defineScenario({
    ...closed,
    tags: (input) => ({ length: input.isl > 1000 ? "long" : "short", tensors: Object.keys(input.tensors).length }),
    assert: [p99("latency").where({ length: "long" }).below("2 s"), p99().where({ tensors: 3 }).below("1 s")],
  }),
  defineScenario({
    ...closed,
    tags: { team: "a" },
    assert: [errorRate().where({ team: "a", phase: "busy" }).is(0), errorRate().is(0)],
  }),
  defineScenario({
    ...scheduled,
    params,
    tags: ({ index }) => ({ index }),
    assert: ({ share }) => [errorRate().below(`${share} %`)],
  }),
  defineScenario({
    name: "m",
    target: mix([
      { name: "a", target: restApi("h/x") },
      { name: "b", target: torchserve("h", { model: "m" }), inputs: input.files(["a"]) },
      { name: "c", target: embedded() },
    ]),
    load: rate(10),
    client: "undici",
    assert: [p99("scheduledLatency").where({ target: "c" }).below("1 s")],
  }),
];

/** Loads for each target of a mix, also where the target needs parameters or what setup returned. */
export const ownLoads = [
  defineScenario({ name: "m", target: twoModels, load: perTarget({ tensors: hold(2), chat: rate(3) }) }),
  defineScenario({
    name: "m",
    target: twoModels,
    load: perTarget({
      tensors: [warmup("1 s", hold(2)), hold(3, { for: "1 s" })],
      chat: findMax({ range: ramp(1, 8), where: [p99("latency").below("1 s")] }),
    }),
  }),
  defineScenario({
    name: "m",
    params: { users: param.integer(2) },
    setup: () => ({ url: "h" }),
    target: (_, { url }) =>
      mix([
        { name: "a", target: restApi(url) },
        { name: "b", target: embedded() },
      ]),
    load: ({ users }) => perTarget({ a: hold(users), b: hold(1) }),
  }),
];

/** Mistakes with loads for each target. */
export const wrongOwnLoads = [
  // @ts-expect-error A name that is not one of the targets.
  defineScenario({ name: "m", target: twoModels, load: perTarget({ tensors: hold(2), chatt: rate(3) }) }),
  // @ts-expect-error A target without a load.
  defineScenario({ name: "m", target: twoModels, load: perTarget({ tensors: hold(2) }) }),
  // @ts-expect-error A load for no target.
  defineScenario({ name: "m", target: twoModels, load: perTarget({ tensors: hold(2), chat: rate(3), c: hold(1) }) }),
  // @ts-expect-error One target is no mix.
  defineScenario({ ...closed, load: perTarget({ a: hold(2) }) }),
  // @ts-expect-error It is no part of a list.
  defineScenario({ name: "m", target: twoModels, load: [perTarget({ tensors: hold(2), chat: rate(3) })] }),
];

/** Mistakes with several targets and tags. */
export const wrongGroups = [
  // @ts-expect-error One target is no mix.
  mix([{ name: "a", target: overHttp }]),
  // @ts-expect-error A member has a name.
  mix([{ name: "a", target: overHttp }, { target: overHttp }]),
  mix([
    { name: "a", target: overHttp },
    // @ts-expect-error A member takes the inputs of its own target.
    { name: "b", target: chat, inputs: input.json("a.json") },
  ]),
  mix([
    // @ts-expect-error A weight is a number.
    { name: "a", target: overHttp, weight: "2" },
    { name: "b", target: overHttp },
  ]),
  // @ts-expect-error Each member has its inputs.
  defineScenario({ name: "m", target: twoModels, load: hold(1), inputs: input.random() }),
  defineScenario({
    name: "m",
    target: mix([
      { name: "a", target: overHttp },
      { name: "b", target: overGrpc },
    ]),
    load: hold(1),
    // @ts-expect-error No member has tokens.
    assert: [p99("timeToFirstToken").below("1 s")],
  }),
  // @ts-expect-error One of the targets uses gRPC.
  defineScenario({ name: "m", target: twoModels, load: hold(1), client: "h2" }),
  defineScenario({
    ...closed,
    tags: ({ isl }) => ({ length: isl > 1000 ? "long" : "short" }),
    // @ts-expect-error A value that the function does not return.
    assert: [p99("latency").where({ length: "medium" }).below("2 s")],
  }),
  defineScenario({
    ...closed,
    tags: ({ isl }) => ({ length: isl > 1000 ? "long" : "short" }),
    // @ts-expect-error A tag that the function does not return.
    assert: [p99("latency").where({ size: "long" }).below("2 s")],
  }),
  // @ts-expect-error Tags are texts, numbers or booleans.
  defineScenario({ ...closed, tags: { a: ["b"] } }),
  // @ts-expect-error A search has limits on all requests.
  findMax({ range: ramp(1, 8), where: [errorRate().where({ a: "b" }).is(0)] }),
];

/** A search takes the metrics of its load. */
export const searches = [
  defineScenario({
    ...grpc,
    load: findMax({ range: ramp(1, 8), where: [p99("latency").below("1 ms"), errorRate().is(0)] }),
    assert: [p99("latency").below("1 ms")],
  }),
  defineScenario({
    ...grpc,
    load: findMax({ range: rateRamp(1, 8), where: [p99("scheduledLatency").below("1 ms")] }),
    assert: [p99("scheduledLatency").below("1 ms")],
  }),
  defineScenario({ ...grpc, load: findMax({ where: p99("latency").below("1 ms") }) }),
  // @ts-expect-error without a range it searches concurrencies
  findMax({ where: p99("scheduledLatency").below("1 ms") }),
  // @ts-expect-error concurrencies have no schedule
  findMax({ range: ramp(1, 8), where: [p99("scheduledLatency").below("1 ms")] }),
  // @ts-expect-error a search needs limits
  findMax({ range: ramp(1, 8) }),
];

/** Sound hooks. */
export const withHooks = [
  defineScenario({
    name: "own server",
    params: { users: param.integer(1) },
    setup: async ({ $, params, start, waitUntilReady, freePort, rampart }) => {
      const port = await freePort();
      const { exitCode, stdout } = await $({ nothrow: true })`docker ps ${params.users}`;
      const server = await start([...rampart, "mock", "--http-port", String(port)], { ready: /http/, timeout: "10 s" });
      await waitUntilReady(`http://localhost:${port}/`, { timeout: "1 min" });
      return { url: `localhost:${port}`, pid: server.pid, isThere: exitCode === 0 && stdout !== "" };
    },
    target: (_params, { url }) => triton(url, { model: "simple" }),
    load: ({ users }, { pid }) => hold(users + pid),
    teardown: async ({ $, params, started }) => {
      await $`docker stop ${started?.url} ${params.users}`;
    },
  }),
  defineScenario({ ...closed, setup: () => {}, teardown: ({ started }) => started }),
  defineScenario({ ...closed, teardown: async ({ $ }) => void (await $`true`) }),
];

/** Mistakes with hooks. */
export const wrongHooks = [
  defineScenario({
    ...closed,
    setup: () => ({ url: "" }),
    // @ts-expect-error setup returns no such value.
    load: (_params, { users }) => hold(users),
  }),
  // @ts-expect-error Without setup, there is nothing.
  defineScenario({ ...closed, load: (_params, { users }) => hold(users) }),
  // @ts-expect-error There is no such helper.
  defineScenario({ ...closed, setup: ({ run }) => run }),
  // @ts-expect-error setup is a function.
  defineScenario({ ...closed, setup: "docker run" }),
  defineScenario({
    ...closed,
    setup: () => ({ url: "" }),
    // @ts-expect-error setup may have failed.
    teardown: ({ started }) => void started.url,
  }),
  // @ts-expect-error A timeout has a unit.
  defineScenario({ ...closed, setup: ({ waitUntilReady }) => waitUntilReady("h:1", { timeout: "5" }) }),
];

const tensors = input.generate(function* ({ random, index }) {
  yield { tensors: { INPUT0: [random(), index], INPUT1: { content: new Int32Array(2), shape: [2] } }, tags: { a: 1 } };
});
const bodies = input.generate(({ index }) => ({ body: { index } }), { count: 4, seed: 1 });
const asked = input.generate(async function* () {
  yield { prompt: "Hi", osl: 3, tags: { length: "short" } };
});
const bytes = input.generate(async () => ({ file: new Uint8Array(3) }));

/** Sound sources of inputs. */
export const withInputs = [
  defineScenario({ ...closed, inputs: tensors }),
  defineScenario({ ...llm, target: chat, inputs: bodies }),
  defineScenario({ ...llm, target: chat, inputs: asked }),
  defineScenario({ name: "x", target: restApi("h/x"), load: hold(1), inputs: bodies }),
  defineScenario({ name: "x", target: torchserve("h", { model: "m" }), load: hold(1), inputs: bytes }),
  // A folder has what its target takes.
  defineScenario({ ...closed, inputs: input.dir("inputs") }),
  defineScenario({ ...llm, target: chat, inputs: input.dir("payloads") }),
  defineScenario({ name: "x", target: torchserve("h", { model: "m" }), load: hold(1), inputs: input.dir("images") }),
  // A trace is the load and the inputs, and has a schedule.
  defineScenario({
    name: "x",
    target: chat,
    load: trace("t.jsonl", { from: "1 min", to: "2 min", speed: 2, seed: 1, extra: { ignore_eos: true } }),
    assert: [p99("scheduledLatency").below("1 s"), p99("timeToFirstToken").below("1 s").abortAfter("10 s")],
  }),
];

/** Mistakes with sources of inputs. */
export const wrongSources = [
  // @ts-expect-error A model with tensors takes no bodies.
  defineScenario({ ...closed, inputs: bodies }),
  // @ts-expect-error A language model takes no tensors.
  defineScenario({ ...llm, target: chat, inputs: tensors }),
  // @ts-expect-error TorchServe takes files.
  defineScenario({ name: "x", target: torchserve("h", { model: "m" }), load: hold(1), inputs: asked }),
  // @ts-expect-error An input has tensors, a body, a prompt or a file.
  input.generate(() => ({ nothing: 1 })),
  // @ts-expect-error A body or a prompt, not both.
  input.generate(() => ({ body: "x", prompt: "y" })),
  // @ts-expect-error A number of tokens.
  input.generate(() => ({ prompt: "x", osl: "3" })),
  // @ts-expect-error The number of tokens is osl.
  input.generate(() => ({ prompt: "x", maxTokens: 3 })),
  // @ts-expect-error The number of tokens is osl.
  input.generate(function* () {
    yield { prompt: "x", max_tokens: 3 };
  }),
  // @ts-expect-error A body says itself how many tokens it wants.
  input.generate(async () => ({ body: {}, osl: 3 })),
  // @ts-expect-error The tags are tags.
  input.generate(() => ({ tensors: { INPUT0: [1] }, tag: { a: 1 } })),
  // @ts-expect-error A file has tags only.
  input.generate(() => ({ file: new Uint8Array(1), name: "x" })),
  // @ts-expect-error Elements are in a list.
  input.generate(() => ({ tensors: { INPUT0: 1 } })),
  // @ts-expect-error Tags are texts, numbers or booleans.
  input.generate(() => ({ file: new Uint8Array(1), tags: { a: [] } })),
  // @ts-expect-error There is no such option.
  input.generate(() => ({ body: "x" }), { seeds: 1 }),
  // @ts-expect-error There is no such argument of the function.
  input.generate(({ rand }) => ({ body: rand })),
  // @ts-expect-error A folder has a path.
  input.dir(),
  // @ts-expect-error A folder has no options.
  input.dir("inputs", { recursive: true }),
  // @ts-expect-error A trace is a file.
  trace(),
  // @ts-expect-error A time has a unit.
  trace("t.jsonl", { from: "1" }),
  // @ts-expect-error There is no such option.
  trace("t.jsonl", { rate: 1 }),
  // @ts-expect-error A trace is a load.
  defineScenario({ ...llm, target: chat, inputs: trace("t.jsonl") }),
];

/** Sound functions for responses and records. */
export const withFunctions = [
  defineScenario({
    ...closed,
    check: ({ tensors: { OUTPUT0 }, request, parts }) =>
      (OUTPUT0?.values().length === 16 && parts.length === 1) || `wrong for ${Object.keys(request.tags).join()}`,
    onRecord: ({ index, latencyMs, failure, level, extracted, tags }) => {
      const numbers: number[] = [index, latencyMs, failure?.status ?? 0, level?.value ?? 0];
      const texts: (string | undefined)[] = [failure?.kind, level?.phase, tags["team"]];
      console.error(numbers, texts, extracted?.["tokens"], level?.isWarmup === true, level?.unit === "concurrency");
    },
  }),
  defineScenario({
    ...llm,
    target: chat,
    check: ({ content }) => content.includes("Paris") || "no capital",
    onRecord: async ({ tokens }) => {
      const times: readonly number[] = tokens?.contentMs ?? [];
      const first: number | undefined = tokens?.timeToFirstTokenMs;
      const count: number | undefined = tokens?.outputTokens;
      await Promise.resolve([times, first, count, tokens?.error]);
    },
  }),
  // Nothing returned is right too.
  defineScenario({ ...closed, check: ({ json }) => void json() }),
];

/** Mistakes with functions for responses and records. */
export const wrongFunctions = [
  // @ts-expect-error A response has no such part.
  defineScenario({ ...closed, check: ({ body }) => body === "" }),
  // @ts-expect-error True, false, nothing, or a reason.
  defineScenario({ ...closed, check: () => 1 }),
  // @ts-expect-error A check cannot be asynchronous.
  defineScenario({ ...closed, check: async () => true }),
  // @ts-expect-error A tensor may be missing.
  defineScenario({ ...closed, check: ({ tensors: { OUTPUT0 } }) => OUTPUT0.values().length === 16 }),
  // @ts-expect-error A check is a function.
  defineScenario({ ...closed, check: "OUTPUT0" }),
  // @ts-expect-error A record has no such field.
  defineScenario({ ...closed, onRecord: ({ latency }) => console.error(latency) }),
  // @ts-expect-error A request may have no level.
  defineScenario({ ...closed, onRecord: ({ level }) => console.error(level.value) }),
  // @ts-expect-error Times are in milliseconds, and say so.
  defineScenario({ ...closed, onRecord: ({ tokens }) => console.error(tokens?.timeToFirstToken) }),
  defineScenario({
    ...closed,
    onRecord: (record) => {
      // @ts-expect-error A record cannot be changed.
      record.latencyMs = 1;
    },
  }),
];

/** Mistakes with phases, and with assertions that end a run. */
export const wrongPhases = [
  // @ts-expect-error A warm-up has a length.
  warmup(hold(1)),
  // @ts-expect-error A length has a unit.
  warmup("10", hold(1)),
  // @ts-expect-error A phase has a name.
  phase(hold(1)),
  // @ts-expect-error A phase is one load.
  phase("busy", [hold(1), hold(2)]),
  // @ts-expect-error A number is no load.
  defineScenario({ ...http, load: [hold(1), 2] }),
  // @ts-expect-error A soak test has a length.
  soak(4),
  // @ts-expect-error A peak begins at some time.
  spike({ base: 1, peak: 2, for: "1 s" }),
  // @ts-expect-error No phase has a schedule.
  defineScenario({ ...inPhases, assert: [p99("scheduledLatency").below("1 s")] }),
  // @ts-expect-error The time that ends a run has a unit.
  defineScenario({ ...llm, target: chat, assert: [p99("timeToFirstToken").below("1 s").abortAfter("10")] }),
  // @ts-expect-error Responses of this target have no tokens.
  defineScenario({ ...closed, assert: [p99("timeToFirstToken").below("1 s").abortAfter("10 s")] }),
];

/** Sound assertions on tokens and tags that end a run. */
export const endingEarly = [
  defineScenario({
    ...llm,
    target: chat,
    tags: { team: "a" },
    assert: [
      p99("interTokenLatency").below("1 s").abortAfter("10 s"),
      goodput({ latency: "1 s" }).where({ team: "a" }).atLeast(1).abortAfter("10 s"),
    ],
  }),
];

export const mlperfServers = () => [
  mlperf.server(10, { latency: "15 ms" }),
  mlperf.server(10, { timeToFirstToken: "2 s", timePerOutputToken: "200 ms" }),
  // @ts-expect-error It has a limit.
  mlperf.server(10, {}),
  // @ts-expect-error The limits of tokens go together.
  mlperf.server(10, { timeToFirstToken: "2 s" }),
  // @ts-expect-error Either latency is limited, or tokens are.
  mlperf.server(10, { latency: "15 ms", timeToFirstToken: "2 s", timePerOutputToken: "200 ms" }),
];

const scored = triton("localhost:8000", {
  model: "m",
  extract: {
    score: { value: "SCORE[0]", unit: "points", better: "higher" },
    label: ({ tensors }) => tensors["LABEL"]?.values()[0],
  },
});
const written = openai("localhost:8000", {
  model: "m",
  streaming: true,
  extract: { finish: ({ finishReason }) => finishReason, cost: ({ usage }) => 2 * (usage?.completionTokens ?? 0) },
});

/** Metrics of a scenario's own. */
export const ownMetrics = [
  defineScenario({
    name: "x",
    target: scored,
    load: hold(1),
    tags: { team: "a" },
    derive: {
      perWatt: { value: (level) => level.throughput / level.gpuPower.mean, unit: "infer/J", better: "higher" },
      points: { value: ({ extracted: { score }, throughput: perSec }) => score.mean * perSec },
      text: { value: "gpuEnergy / throughput" },
    },
    assert: [
      extracted("score").mean().above(1),
      extracted("label").share("cat").where({ team: "a" }).below("1 %"),
      api.derived("perWatt").where({ team: "a" }).atLeast(2),
      api.derived("points").is(0),
    ],
    repeat: { until: api.derived("text").within("5 %") },
  }),
  defineScenario({
    ...llm,
    target: written,
    derive: { seconds: { value: (level) => level.timeToFirstToken.p99 + level.interTokenLatency["p99.9"] } },
    assert: [extracted("finish").share("length").is(0), extracted("cost").max().below(9)],
  }),
  defineScenario({
    params: { price: param.number(2) },
    name: "x",
    target: scored,
    load: hold(1),
    derive: ({ price }) => ({ cost: { value: `\`${price}\` / throughput`, unit: "USD" } }),
    assert: ({ price }) => [api.derived("cost").below(price)],
  }),
  // @ts-expect-error A misspelt extracted value.
  defineScenario({ name: "x", target: scored, load: hold(1), assert: [extracted("scor").mean().above(1)] }),
  defineScenario({
    name: "x",
    target: scored,
    load: hold(1),
    // @ts-expect-error A misspelt extracted value.
    derive: { a: { value: (level) => level.extracted.scor.mean } },
  }),
  // @ts-expect-error This target has no tokens.
  defineScenario({ ...closed, derive: { a: { value: (level) => level.outputTokensPerSec } } }),
  // @ts-expect-error The latency has statistics.
  defineScenario({ ...closed, derive: { a: { value: (level) => level.latency } } }),
  // @ts-expect-error It has no such statistic.
  defineScenario({ ...closed, derive: { a: { value: (level) => level.gpuPower.p99 } } }),
  // @ts-expect-error A misspelt derived metric.
  defineScenario({ ...closed, derive: { a: { value: "throughput" } }, assert: [api.derived("b").below(1)] }),
  // @ts-expect-error There is no derived metric.
  defineScenario({ ...closed, assert: [api.derived("a").below(1)] }),
  // @ts-expect-error A share has its sign.
  defineScenario({ name: "x", target: scored, load: hold(1), assert: [extracted("label").share("cat").below(1)] }),
  // @ts-expect-error A misspelt option.
  triton("localhost:8000", { model: "m", extract: { a: { value: "A[0]", units: "points" } } }),
  // @ts-expect-error It is lower or higher.
  triton("localhost:8000", { model: "m", extract: { a: { value: "A[0]", better: "more" } } }),
];
