/**
 * Unknown names with a replacement: former names of the language, and names in k6, Locust, AIPerf, GenAI-Perf, perf_analyzer and others,
 * each with the text to write instead.
 */

/** Text to write instead: in code, and in data if that is different. */
export type Meant = string | readonly [code: string, data: string];

const HOLD: Meant = ['load: hold(16, { for: "30 s" })', "load: { hold: { concurrency: 16, for: 30 s } }"];
const RAMP: Meant = ['load: ramp(1, 64, { over: "2 min" })', "load: { ramp: { from: 1, to: 64, over: 2 min } }"];
const STEPS: Meant = ["load: ramp(1, 8)", "load: { ramp: { from: 1, to: 8 } }"];
const RATE: Meant = ['load: rate(100, { for: "30 s" })', "load: { rate: { perSec: 100, for: 30 s } }"];
const RATES: Meant = ["load: rateRamp(10, 100, { step: 10 })", "load: { rateRamp: { from: 10, to: 100, step: 10 } }"];
const LENGTH: Meant = ['for: "30 s" in the load', "for: 30 s in the load"];
const COUNT: Meant = "requests: 1000 in the load";
const LIMITS: Meant = ['assert: [p99("latency").below("50 ms")]', "assert: [p99(latency) < 50 ms]"];
const SERVER: Meant = [
  'target: openai("localhost:8000", { model: "NAME" }), or another target',
  "target: { openai: { url: localhost:8000, model: NAME } }, or another target",
];
const PROMPTS: Meant = ["inputs: input.prompts({ isl: 550, osl: 128 })", "inputs: { prompts: { isl: 550, osl: 128 } }"];
const SPREAD = "isl: { mean: 550, stddev: 50 }";
const NAMED = "model";
const REPORTS = "no file in the scenario: reports are options of rampart run";
const OWN_LOADS: Meant = [
  "load: perTarget({ a: hold(16), b: rate(50) }), beside the target",
  "load: { perTarget: { a: { hold: { concurrency: 16 } }, b: { rate: { perSec: 50 } } } }, beside the target",
];
const PHASES: Meant = [
  'load: [ramp(1, 16, { over: "1 min" }), hold(16, { for: "1 min" })]',
  "load: [{ ramp: { from: 1, to: 16, over: 1 min } }, { hold: { concurrency: 16, for: 1 min } }]",
];
const KNEE: Meant = [
  'load: steps([1, 2, 4, 8, 16, 32], { until: "knee" })',
  "load: { steps: { levels: [1, 2, 4, 8, 16, 32], until: knee } }",
];
const MOST = "concurrencyLimit: 64";
const POISSON = 'distribution: "poisson"';
const BURSTS = 'distribution: "gamma", smoothness: 0.5';
const RISE: Meant = ['rampUp: "10 s" in hold(…) or rate(…)', "rampUp: 10 s in hold or rate"];
const INNER: Meant = ["hold(16) as its load", "load: { hold: 16 }"];
const THINK = 'thinkTime: "1 s" in the load';
const TURNS = "sessions: { count: 10, turns: 3 } in input.prompts(…)";
const PROMPT_FILE = 'file: "x.jsonl", with {"text": "…"} in each line';
const WARM: Meant = ['warmupFor: "10 s", a field beside the load', "warmupFor: 10 s, a field beside the load"];
const RANGE: Meant = ["range: ramp(1, 64)", "range: { ramp: { from: 1, to: 64 } }"];
const IN_TARGET = "it inside the options of the target";
const ADDRESS: Meant = ["the address as the first argument, before the options", "url"];

/** Examples for missing fields. */
export const EXAMPLES: ReadonlyMap<string, Meant> = new Map<string, Meant>([
  ["name", ['name: "my test"', "name: my test"]],
  ["target", SERVER],
  ["load", HOLD],
  ["inputs", PROMPTS],
  ["model", ['model: "NAME"', "model: NAME"]],
  ["url", ['"localhost:8000" as the first argument', "url: localhost:8000"]],
  ["for", ['for: "1 min"', "for: 1 min"]],
  ["at", ['at: "1 min"', "at: 1 min"]],
  ["peak", "peak: 64"],
  ["base", "base: 4"],
  ["from", "from: 1"],
  ["to", "to: 8"],
  ["concurrency", "concurrency: 16"],
  ["perSec", "perSec: 100"],
  ["share", ['share: "5 %"', "share: 5 %"]],
  ["until", ['until: p99("latency").within("5 %")', "until: { p99: latency, within: 5 % }"]],
  ["where", ['where: p99("latency").below("50 ms")', "where: p99(latency) < 50 ms"]],
]);

/** Options by name, by field and name (`load.limits`), or by an existing option of the same builder (`range:from`). */
export const OPTIONS: ReadonlyMap<string, Meant> = new Map<string, Meant>([
  ["maxFailureRatio", 'maxErrorRate: "1 %"'],
  ["requestTimeout", 'timeout: "30 s"'],
  ["errorRatio", 'errorRate: "1 %"'],
  ["cutRatio", 'cutRate: "1 %"'],
  ["maxDriftPercent", 'maxDrift: "10 %"'],
  ["withinPercent", 'within: "20 %"'],
  ["cancel.percent", 'share: "5 %"'],
  ["stability.percent", 'within: "10 %"'],
  ["inputs.mix", 'lengths: [{ isl: 100, osl: 20, share: "100 %" }]'],
  ["inputs.steps", 'calls: [{ path: "/login" }]'],
  ["delayRatio", "delayFactor: 0.5"],
  ["maxOutstanding", "maxInFlight: 4096"],
  ["load.maxOutstanding", "concurrencyLimit: 64"],
  ["serverTrace.rate", "oneIn: 10"],
  ["ttft", 'timeToFirstToken: "200 ms"'],
  ["itl", 'interTokenLatency: "20 ms"'],
  ["tpot", 'interTokenLatency: "20 ms"'],
  ["requestLatency", 'latency: "2 s"'],
  ["target[].load", OWN_LOADS],
  ["mix[].load", OWN_LOADS],
  ["apiKey", 'apiKeyEnv: "NAME", the environment variable that holds it'],
  [
    "until",
    [
      'until: "knee" in steps(…), ramp(…), rateSteps(…) or rateRamp(…), the only load',
      "until: knee in steps, ramp, rateSteps or rateRamp, the only load",
    ],
  ],
  ["load.limits", ['where: p99("latency").below("50 ms")', "where: p99(latency) < 50 ms"]],
  ["outputs", REPORTS],
  ["reports", REPORTS],
  // In findMax.
  ...["from", "start", "min", "to", "end", "max", "over"].map((name) => [`range:${name}`, RANGE] as const),
  ["forAtMost:for", ['forAtMost: "30 s"', "forAtMost: 30 s"]],
  [
    "forAtMost:atMost",
    [
      'range: ramp(1, 64) for the highest load, or forAtMost: "30 s" for the longest measurement of each load',
      "range: { ramp: { from: 1, to: 64 } } for the highest load, or forAtMost: 30 s for the longest measurement of each load",
    ],
  ],
  // In ramp and rateRamp.
  ...["ramp", "rateRamp"].flatMap((name) => [[`${name}.start`, "from: 1"] as const, [`${name}.end`, "to: 8"] as const]),
  // Of soak and spike.
  ...["concurrency", "users", "vus"].flatMap((name) => [
    [`maxDrift:${name}`, INNER] as const,
    [`peak:${name}`, "base: 4 and peak: 64"] as const,
  ]),
  ["scenario.for", LENGTH],
  ["scenario.requests", COUNT],
  // k6
  ["thresholds", LIMITS],
  ["vus", HOLD],
  ["duration", LENGTH],
  ["iterations", COUNT],
  ["stages", RAMP],
  ["startVUs", RAMP],
  ["scenarios", HOLD],
  ["rps", RATE],
  ["startRate", RATES],
  ["phases", PHASES],
  ["arrivalRate", RATE],
  ["timeUnit", "the rate in requests per second, without timeUnit"],
  ["preAllocatedVUs", MOST],
  ["maxVUs", MOST],
  ["checks", "check: (response) => true"],
  ["insecureSkipTLSVerify", "tls: { verify: false } in the target's options"],
  // Locust
  ["users", HOLD],
  ["spawnRate", RISE],
  ["waitTime", THINK],
  ["runTime", LENGTH],
  ["host", SERVER],
  // AIPerf and GenAI-Perf
  ["concurrency", HOLD],
  ["requestRate", RATE],
  ["requestCount", COUNT],
  ["benchmarkDuration", LENGTH],
  ["warmup", WARM],
  ["warmupDuration", WARM],
  ...["arrival", "arrivals", "arrivalDistribution", "requestDistribution"].map((name) => [name, POISSON] as const),
  ["arrivalPattern", POISSON],
  ["requestRateMode", POISSON],
  ["burstiness", BURSTS],
  ["arrivalSmoothness", BURSTS],
  ["maxConcurrency", MOST],
  ...["numSessions", "conversationNum", "conversationTurnMean", "turns"].map((name) => [name, TURNS] as const),
  ["prefixPromptLength", "prefix: { count: 10, tokens: 100 }"],
  ["numPrefixPrompts", "prefix: { count: 10, tokens: 100 }"],
  ["sharedSystemPromptLength", "systemTokens: 100"],
  ["ignoreEos", "extra: { ignore_eos: true } in input.prompts(…)"],
  ["temperature", "extra: { temperature: 0 } in input.prompts(…)"],
  ["dataset", PROMPT_FILE],
  ["prompt", PROMPT_FILE],
  ["warmupRequestCount", "warmupRequests: 10"],
  ["url", SERVER],
  ["target.url", ADDRESS],
  ["target.baseUrl", ADDRESS],
  ["model", SERVER],
  ["endpoint", SERVER],
  ["endpointType", 'endpoint: "chat"'],
  ["target.modelName", NAMED],
  ["islMean", "isl: 550"],
  ["islStddev", SPREAD],
  ["oslMean", "osl: 128"],
  ["oslStddev", "osl: { mean: 128, stddev: 10 }"],
  ["syntheticInputTokensMean", "isl: 550"],
  ["syntheticInputTokensStddev", SPREAD],
  ["promptInputTokensMean", "isl: 550"],
  ["promptInputTokensStddev", SPREAD],
  ["inputTokens", "isl: 550"],
  ["outputTokensMean", "osl: 128"],
  ["maxTokens", "osl: 128"],
  ["numPrompts", "count: 100"],
  ["numDatasetEntries", "count: 100"],
  ...["isl", "osl", "prompts"].map((name) => [name, PROMPTS] as const),
  ["inputFile", ['inputs: input.prompts({ file: "x.jsonl" })', "inputs: { prompts: { file: x.jsonl } }"]],
  ["extraInputs", "extra: { temperature: 0 } in input.prompts(…)"],
  ["randomSeed", "seed: 0"],
  ["slo", LIMITS],
  ["slos", LIMITS],
  ["goodput", ['assert: [goodput({ latency: "1 s" }).atLeast(10)]', "assert: [goodput(latency <= 1 s) >= 10]"]],
  ["profileExportFile", REPORTS],
  ["artifactDir", REPORTS],
  // guidellm
  ["rateType", KNEE],
  ["profile", KNEE],
  ["maxSeconds", LENGTH],
  ["time", LENGTH],
  ["seconds", LENGTH],
  ["maxRequests", COUNT],
  ["data", PROMPTS],
  ["promptTokens", "isl: 550"],
  ["outputTokens", "osl: 128"],
  ["processor", 'tokenizer: "o200k_base", or another'],
  ["backend", SERVER],
  ["warmupPercent", WARM],
  ["outputPath", REPORTS],
  // vegeta, and common words
  ["maxWorkers", MOST],
  ["targets", ['target: mix([{ name: "a", target: … }, …])', "target: { mix: [{ name: a, target: … }, …] }"]],
  ["header", 'headers: { NAME: "VALUE" }'],
  ["rate", RATE],
  ["qps", RATE],
  ["hold", HOLD],
  ["ramp", RAMP],
  ["rampUp", RISE],
  ["runs", "repeat: 5"],
  ["assertions", LIMITS],
  ["expect", LIMITS],
  ["target.json", "body: { a: 1 }"],
  ...["body", "headers", "method", "path", "streaming", "tokenizer"].map(
    (name) => [`scenario.${name}`, IN_TARGET] as const,
  ),
  // perf_analyzer
  ["concurrencyRange", STEPS],
  ["requestRateRange", RATES],
  ["measurementInterval", 'stability: { window: "5 s" }'],
  ["stabilityPercentage", 'stability: { within: "10 %" }'],
  ["maxTrials", "stability: { trials: 10 }"],
  ["percentile", "stability: { percentile: 95 }"],
  ["latencyThreshold", 'latencyLimit: "50 ms"'],
  ["binarySearch", ["load: findMax({ range: ramp(1, 64), where: … })", "load: { findMax: { … } }"]],
  ["inputData", ['inputs: input.json("data.json")', "inputs: { json: data.json }"]],
  ["serviceKind", SERVER],
  ["modelVersion", 'version: "1"'],
  ["batch", "batchSize: 8"],
  ["shape", "shapes: { INPUT0: [3, 224, 224] }"],
  ["insecure", "verify: false"],
]);

const MLPERF = ["multiStream", "offline", "server", "singleStream"] as const;

/** Functions of the API by name, with a call that has the same effect. */
export const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ["concurrency", "hold(16), or ramp(1, 64) for a search: findMax({ range: ramp(1, 64), … })"],
  ["requestRate", "rate(100), or rateRamp(10, 500) for a search: findMax({ range: rateRamp(10, 500), … })"],
  ["dynamicGrpc", "grpc(…)"],
  ["scenario", "defineScenario({ … })"],
  ["test", "defineScenario({ … })"],
  ["sleep", 'thinkTime: "1 s" in the load'],
  ["check", "check: (response) => true, a field of the scenario"],
  ["file", "fileBody(…)"],
  ["p", "percentile(99)"],
  ["p999", "percentile(99.9, …)"],
  ["median", "p50(…)"],
  ["between", THINK],
  ["qps", "rate(100)"],
  ["vus", "hold(16)"],
  ["stages", 'ramp(1, 64, { over: "2 min" })'],
  ["__ENV", "process.env, or a parameter: params: { users: param.integer(16) }"],
  ...["get", "post", "put"].map(
    (name) => [name, `http("localhost:8000/path", { method: "${name.toUpperCase()}" })`] as const,
  ),
  ...["ollama", "sglang", "tgi", "vllm"].map((name) => [name, 'openai("localhost:8000", { model: "NAME" })'] as const),
  ["avg", "mean(…)"],
  ["average", "mean(…)"],
  ["lessThan", 'below("50 ms")'],
  ["under", 'below("50 ms")'],
  ["lessThanOrEqual", 'atMost("50 ms")'],
  ["over", "above(100)"],
  ["abortOnFail", 'abortAfter("10 s")'],
  ["greaterThan", "above(100)"],
  ["lt", 'below("50 ms")'],
  ["lte", 'atMost("50 ms")'],
  ["gt", "above(100)"],
  ["gte", "atLeast(100)"],
  ["equals", "is(0)"],
  ...MLPERF.map((name) => [name, `mlperf.${name}(…)`] as const),
  ...["choice", "duration", "flag", "integer", "number", "text"].map((name) => [name, `param.${name}(…)`] as const),
  ...["chain", "dir", "files", "generate", "json", "payloads", "prompts", "random", "zero"].map(
    (name) => [name, `input.${name}(…)`] as const,
  ),
]);

/** Builders in YAML and JSON by name, with the new name. */
export const IN_DATA: ReadonlyMap<string, string> = new Map([
  ["concurrency", "ramp: { from: 1, to: 64 }"],
  ["requestRate", "rateRamp: { from: 10, to: 500 }"],
  ["dynamicGrpc", "grpc"],
  ...["ollama", "sglang", "tgi", "vllm"].map((name) => [name, "openai: { url: localhost:8000, model: NAME }"] as const),
  ...MLPERF.map((name) => [name, `mlperf.${name}`] as const),
]);
