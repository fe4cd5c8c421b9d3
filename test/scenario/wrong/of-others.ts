import type { WrongScenario } from "./wrong-scenario.ts";

/** What users of k6, Locust, AIPerf, GenAI-Perf and perf_analyzer write, and fields and files. */
export const OF_OTHERS: readonly WrongScenario[] = [
  {
    name: "a load of each target, as k6's scenarios have",
    fields: ['target: mix([{ name: "a", target: embedded(), load: hold(1) }])', "load: hold(4)"],
    says: "4:49, target[0].load: <*>. Write load: perTarget({ a: hold(16), b: rate(50) }), beside the target.",
  },
  {
    name: "files of reports",
    fields: ["target: embedded()", "load: hold(4)", 'outputs: { json: "x.json" }'],
    says: "6:3, outputs: <*>. Write no file in the scenario: reports are options of rampart run.",
  },
  {
    name: "thresholds of k6",
    fields: ["target: embedded()", "load: hold(4)", 'thresholds: { http_req_duration: ["p(95)<500"] }'],
    says: '6:3, thresholds: is not an option here. Write assert: [p99("latency").below("50 ms")].',
  },
  {
    name: "virtual users of k6",
    fields: ["target: embedded()", "vus: 10", 'duration: "30s"'],
    says: [
      '5:3, vus: is not an option here. Write load: hold(16, { for: "30 s" }).',
      '6:3, duration: is not an option here. Write for: "30 s" in the load.',
    ],
  },
  {
    name: "stages of k6",
    fields: ["target: embedded()", 'stages: [{ duration: "30s", target: 20 }]'],
    says: '5:3, stages: is not an option here. Write load: ramp(1, 64, { over: "2 min" }).',
  },
  {
    name: "k6's options in a load",
    fields: ["target: embedded()", 'load: hold({ vus: 10, duration: "30s" })'],
    says: '5:3, load.concurrency: must be one number: steps([…]) takes several (got {"vus":10,"duration":"30s"}). Write load: hold(16, { for: "30 s" }).',
  },
  {
    name: "k6's stages in a ramp",
    fields: ["target: embedded()", 'load: ramp({ stages: [{ duration: "30s", target: 20 }] })'],
    says: '5:3, load.from: must be a number (got {"stages":[{"duration":"30s","target":20}]}). Write load: ramp(1, 64, { over: "2 min" }).',
  },
  {
    name: "k6's name of a length",
    fields: ["target: embedded()", 'load: hold(4, { duration: "30 s" })'],
    says: '5:19, load.duration: is not an option here. Write for: "30 s" in the load.',
  },
  {
    name: "scenarios of k6",
    fields: ["target: embedded()", 'scenarios: { a: { executor: "constant-vus", vus: 10, duration: "30s" } }'],
    says: '5:3, scenarios: is not an option here. Write load: hold(16, { for: "30 s" }).',
  },
  {
    name: "an executor of k6",
    fields: ["target: embedded()", 'load: { executor: "constant-arrival-rate", rate: 100, timeUnit: "1s" }'],
    says: '5:3, load: must be ramp(…), <*> or findMax(…) (got {"executor":"constant-arrival-rate","rate":100,"timeUnit":"1s"}). Write load: rate(100, { for: "30 s" }).',
  },
  {
    name: "k6's unit of a rate",
    fields: ["target: embedded()", 'load: rate(100, { timeUnit: "1s" })'],
    says: "5:21, load.timeUnit: is not an option here. Write the rate in requests per second, without timeUnit.",
  },
  {
    name: "k6's number of virtual users for a rate",
    fields: ["target: embedded()", "load: rate(100, { preAllocatedVUs: 10 })"],
    says: "5:21, load.preAllocatedVUs: is not an option here. Write concurrencyLimit: 64.",
  },
  {
    name: "k6's check of a status",
    fields: ["target: embedded()", "load: hold(1, { requests: 3 })", "check: (r) => r.status === 200"],
  },
  {
    name: "checks of k6",
    fields: [
      'target: http("http://localhost:8000/")',
      "load: hold(4)",
      'check: { "status is 200": (r) => r.status === 200 }',
    ],
    says: '6:3, check: must be a function (got {"status is 200":"a function"}).',
  },
  {
    name: "options of Locust",
    fields: ["target: embedded()", "users: 100", "spawnRate: 10", 'runTime: "1m"'],
    says: [
      '5:3, users: is not an option here. Write load: hold(16, { for: "30 s" }).',
      '6:3, spawnRate: is not an option here. Write rampUp: "10 s" in hold(…) or rate(…).',
      '7:3, runTime: is not an option here. Write for: "30 s" in the load.',
    ],
  },
  {
    name: "the host of Locust",
    fields: ['host: "http://localhost:8000"', "load: hold(4)"],
    says: '4:3, host: is not an option here. Write target: openai("localhost:8000", { model: "NAME" }), or another target.',
  },
  {
    name: "options of AIPerf",
    fields: ["target: embedded()", "concurrency: 10", "requestCount: 100"],
    says: [
      '5:3, concurrency: is not an option here. Write load: hold(16, { for: "30 s" }).',
      "6:3, requestCount: is not an option here. Write requests: 1000 in the load.",
    ],
  },
  {
    name: "the rate of AIPerf",
    fields: ["target: embedded()", "requestRate: 10"],
    says: '5:3, requestRate: is not an option here. Write load: rate(100, { for: "30 s" }).',
  },
  {
    name: "a warm-up of other tools",
    fields: ["target: embedded()", "load: hold(4)", 'warmup: "5 s"'],
    says: '6:3, warmup: is not an option here. Write warmupFor: "10 s", a field beside the load.',
  },
  {
    name: "AIPerf's number of warm-up requests",
    fields: ["target: embedded()", "load: hold(4)", "warmupRequestCount: 10"],
    says: "6:3, warmupRequestCount: is not an option here. Write warmupRequests: 10.",
  },
  {
    name: "a range of perf_analyzer",
    fields: ["target: embedded()", 'concurrencyRange: "1:4"'],
    says: "5:3, concurrencyRange: is not an option here. Write load: ramp(1, 8).",
  },
  {
    name: "the interval of perf_analyzer",
    fields: ["target: embedded()", "load: hold(4)", "measurementInterval: 5000"],
    says: '6:3, measurementInterval: is not an option here. Write stability: { window: "5 s" }.',
  },
  {
    name: "the stability of perf_analyzer",
    fields: ["target: embedded()", "load: hold(4)", "stabilityPercentage: 10"],
    says: '6:3, stabilityPercentage: is not an option here. Write stability: { within: "10 %" }.',
  },
  {
    name: "the threshold of perf_analyzer",
    fields: ["target: embedded()", "load: hold(4)", "latencyThreshold: 50"],
    says: '6:3, latencyThreshold: is not an option here. Write latencyLimit: "50 ms".',
  },
  {
    name: "the percentile of perf_analyzer",
    fields: ["target: embedded()", "load: hold(4)", "percentile: 95"],
    says: "6:3, percentile: is not an option here. Write stability: { percentile: 95 }.",
  },
  {
    name: "the data of perf_analyzer",
    fields: ["target: embedded()", "load: hold(4)", 'inputData: "data.json"'],
    says: '6:3, inputData: is not an option here. Write inputs: input.json("data.json").',
  },
  {
    name: "a misspelt field",
    fields: ["target: embedded()", "load: hold(4)", "asserts: [errorRate().is(0)]"],
    says: "6:3, asserts: is not an option here. Did you mean assert?",
  },
  {
    name: "objectives instead of assertions",
    fields: ["target: embedded()", "load: hold(4)", 'slo: { p99: "50 ms" }'],
    says: '6:3, slo: is not an option here. Write assert: [p99("latency").below("50 ms")].',
  },
  {
    name: "a misspelt parameter",
    fields: [
      "params: { users: param.integer(4) }",
      "target: embedded()",
      'load: ({ user }) => hold(user, { for: "1 s" })',
    ],
    says: "6:<*>: params.user: there is no parameter of this name. Did you mean users?",
  },
  {
    name: "a number for a parameter",
    fields: ["params: { users: 16 }", "target: embedded()", "load: ({ users }) => hold(users)"],
    says: "4:13, params.users: must be param.integer(…), param.number(…), param.text(…), param.choice(…), param.duration(…), param.percent(…) or param.flag(…) (got 16). Write param.integer(16).",
  },
  {
    name: "an asynchronous field",
    fields: ["target: embedded()", "load: async () => hold(4)"],
    says: "5:3, load: must be ramp(…), <*> or findMax(…) (got a promise). A function of a field cannot be async: await it in setup.",
  },
  {
    name: "a command for a hook",
    fields: ["target: embedded()", "load: hold(4)", 'setup: "docker run"'],
    says: '6:3, setup: must be a function (got "docker run").',
  },
  {
    name: "two wrong functions and a wrong field",
    fields: ["target: embedded()", "load: hold(4)", 'setup: "docker run"', "onRecord: 5", "seed: 1.5"],
    says: [
      '6:3, setup: must be a function (got "docker run").',
      "8:3, seed: must be a whole number (got 1.5). Write 1 or 2.",
      "7:3, onRecord: must be a function (got 5).",
    ],
  },
  {
    name: "a misspelt value of setup",
    fields: [
      'setup: () => ({ url: "localhost:8000" })',
      'target: (_params, { urls }) => triton(urls, { model: "m" })',
      "load: hold(4)",
    ],
    says: "5:3, target.url: <*> (got nothing). Write it like triton(<*>).",
  },
  {
    name: "the name as an argument of its own",
    call: 'defineScenario("x", { target: embedded(), load: hold(4) })',
    says: '2:16: defineScenario(definition): takes 1 argument (got {"target":{"kind":"embedded","url":"","options":{}},"load":{"kind":"hold","paci…). Write the name inside: defineScenario({ name: "my test", … }).',
  },
  {
    name: "stages of k6 in the load",
    fields: ["target: embedded()", 'load: { executor: "ramping-vus", stages: [{ duration: "30s", target: 10 }] }'],
    says: '5:3, load: must be ramp(…), <*>. Write load: ramp(1, 64, { over: "2 min" }).',
  },
  {
    name: "the environment of k6",
    fields: ["target: embedded()", "load: hold(Number(__ENV.USERS))"],
    says: "<*>does not load: <*> Write process.env, or a parameter: <*>",
  },
  {
    name: "Locust's wait time",
    fields: ["target: embedded()", 'load: hold(4, { waitTime: "1 s" })'],
    says: '5:19, load.waitTime: is not an option here. Write thinkTime: "1 s" in the load.',
  },
  {
    name: "guidellm's kinds of rates",
    fields: ["target: embedded()", 'load: { rateType: "sweep" }'],
    says: '5:3, load: must be ramp(…), <*>. Write load: steps([1, 2, 4, 8, 16, 32], { until: "knee" }).',
  },
  {
    name: "guidellm's lengths",
    fields: [
      'target: openai("localhost:8000", { model: "m" })',
      "load: hold(4)",
      "inputs: input.prompts({ promptTokens: 256, outputTokens: 128 })",
    ],
    says: [
      "6:27, inputs.promptTokens: is not an option here. Write isl: 550.",
      "6:46, inputs.outputTokens: is not an option here. Write osl: 128.",
    ],
  },
  {
    name: "AIPerf's arrivals",
    fields: ["target: embedded()", 'load: rate(10, { arrivalPattern: "poisson" })'],
    says: '5:20, load.arrivalPattern: is not an option here. Write distribution: "poisson".',
  },
  {
    name: "an option of the target beside it",
    fields: [
      'target: openai("localhost:8000", { model: "m" })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
      "streaming: true",
    ],
    says: "7:3, streaming: is not an option here. Write it inside the options of the target.",
  },
  {
    name: "the knee of one load",
    fields: ["target: embedded()", 'load: hold(4, { until: "knee" })'],
    says: '5:19, load.until: is not an option here. Write until: "knee" in steps(…), ramp(…), rateSteps(…) or rateRamp(…), the only load.',
  },
  {
    name: "another tool's name of a comparison",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p99("latency").under("1 s")]'],
    says: '<*>does not load: <*>under is not a function. Write below("50 ms").',
  },
  {
    name: "k6's percentile",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p(99).below("1 s")]'],
    says: "<*>does not load: <*> Write percentile(99).",
  },
  {
    name: "an import of k6",
    code: 'import http from "k6/http";\nexport default function () { http.get("http://localhost:8000/"); }\n',
    says: "<*>does not load: <*> Use the functions of Rampart instead, and write export default defineScenario({ … }).",
  },
  {
    name: "a script of k6",
    code: 'import { http } from "rampart";\nexport const options = { vus: 10, duration: "30s" };\nexport default function () { http("http://localhost:8000/"); }\n',
    says: "its default export is not a scenario. Write `export default defineScenario({ … })`.",
    compiles: "any file can export anything",
  },
  {
    name: "a scenario that is not the default export",
    code: 'import { defineScenario, embedded, hold } from "rampart";\nexport const scenario = defineScenario({ name: "x", target: embedded(), load: hold(4) });\n',
    says: "its default export is not a scenario. Write `export default defineScenario({ … })`.",
    compiles: "any file can export anything",
  },
  {
    name: "a scenario without defineScenario",
    code: 'import { embedded, hold } from "rampart";\nexport default { name: "x", target: embedded(), load: hold(4) };\n',
    says: "its default export is not a scenario. Write `export default defineScenario({ … })`.",
    compiles: "any file can export anything",
  },
  {
    name: "a misspelt field of a record",
    fields: [
      "target: embedded()",
      "load: hold(1, { requests: 3 })",
      "onRecord: ({ latency }) => console.log(latency.toFixed(1))",
    ],
  },
  {
    name: "inputs without their object",
    fields: ["target: embedded()", "load: hold(4)", 'inputs: json("a.json")'],
    says: "<*>does not load: <*> Write input.json(…).",
  },
  {
    name: "prompts without their object",
    fields: ['target: openai("localhost:8000", { model: "m" })', "load: hold(4)", "inputs: prompts({ isl: 20 })"],
    says: "<*>does not load: <*> Write input.prompts(…).",
  },
  {
    name: "a builder that was renamed",
    fields: ["target: embedded()", 'load: findMax({ range: requestRate(50, 400), where: [p99().below("1 s")] })'],
    says: "<*>does not load: <*> Write rate(100), or rateRamp(10, 500) for a search: findMax({ range: rateRamp(10, 500), … }).",
  },
];
