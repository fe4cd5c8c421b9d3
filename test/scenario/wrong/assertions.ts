import type { WrongScenario } from "./wrong-scenario.ts";

/** Assertions and metrics. */
export const ASSERTIONS: readonly WrongScenario[] = [
  {
    name: "the first token of responses that are not streamed",
    fields: [
      'target: openai("localhost:8000", { model: "m" })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
      'assert: [p99("timeToFirstToken").below("50 ms")]',
    ],
    says: "7:12, assert[0]: only streamed responses have this metric (got timeToFirstToken). Set streaming: true in the target's options.",
  },
  {
    name: "due times of a load without a schedule",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p99("scheduledLatency").below("50 ms")]'],
    says: '6:12, assert[0]: scheduledLatency needs a load with a schedule (got hold(…)). Use "latency", or <*>',
  },
  {
    name: "tokens of tensors",
    fields: ["target: embedded()", "load: hold(4)", "assert: [outputTokensPerSec().above(10)]"],
    says: "6:12, assert[0]: responses of embedded(…) are tensors, not tokens. Look at latencies and throughput, or measure openai(…).",
  },
  {
    name: "a misspelt metric",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p99("latancy").below("50 ms")]'],
    says: '6:12, assert[0]: there is no metric of this name (got "latancy"). Did you mean "latency"?',
  },
  {
    name: "a metric by its short name",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: true })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
      'assert: [p99("ttft").below("50 ms")]',
    ],
    says: '7:12, assert[0]: there is no metric of this name (got "ttft"). Write "timeToFirstToken".',
  },
  {
    name: "a metric with underscores",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: true })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
      'assert: [p99("time_to_first_token").below("50 ms")]',
    ],
    says: '7:12, assert[0]: there is no metric of this name (got "time_to_first_token"). Write "timeToFirstToken".',
  },
  {
    name: "GenAI-Perf's name of the latency",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: true })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
      'assert: [mean("request_latency").below("50 ms")]',
    ],
    says: '7:12, assert[0]: there is no metric of this name (got "request_latency"). Write "latency".',
  },
  {
    name: "k6's name of the latency",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p95("http_req_duration").below("500 ms")]'],
    says: '6:12, assert[0]: there is no metric of this name (got "http_req_duration"). Write "latency".',
  },
  {
    name: "AIPerf's name of the throughput",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [metric("request_throughput").above(100)]'],
    says: '6:12, assert[0]: there is no metric of this name (got "request_throughput"). Write throughput().atLeast(100).',
  },
  {
    name: "a percentile of what is one value",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p99("throughput").above(100)]'],
    says: '6:12, assert[0]: throughput is one value. Write metric("throughput").',
  },
  {
    name: "a metric without its statistic",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [metric("latency").below("5 ms")]'],
    says: '6:12, assert[0]: latency has statistics. Write p99("latency").',
  },
  {
    name: "a metric without its limit",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p99("latency")]'],
    says: '6:12, assert[0]: must be an assertion such as p99().below("25 ms") (got a metric without its limit). Write p99("latency").below("50 ms"), or another metric with its limit.',
  },
  {
    name: "an assertion without its list",
    fields: ["target: embedded()", "load: hold(4)", 'assert: p99("latency").below("1 s")'],
    says: "6:3, assert: must be a list of assertions (got one assertion). Put it in brackets: [ … ].",
  },
  {
    name: "an assertion as text",
    fields: ["target: embedded()", "load: hold(4)", 'assert: ["p99 < 50 ms"]'],
    says: '6:12, assert[0]: must be an assertion such as p99().below("25 ms") (got "p99 < 50 ms"). Write p99("latency").below("50 ms").',
  },
  {
    name: "a threshold of k6",
    fields: ["target: embedded()", "load: hold(4)", 'assert: ["p(95)<500"]'],
    says: '6:12, assert[0]: must be an assertion such as p99().below("25 ms") (got "p(95)<500"). Write p95("latency").below("500 ms").',
  },
  {
    name: "limits in an object",
    fields: ["target: embedded()", "load: hold(4)", 'assert: { p99: "50 ms" }'],
    says: '6:3, assert: must be a list of assertions (got {"p99":"50 ms"}). Write p99("latency").below("50 ms"), or another metric with its limit.',
  },
  {
    name: "a comparison of other languages",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p99("latency").lessThan("50 ms")]'],
    says: `<*>does not load: <*> Write below("50 ms").`,
  },
  {
    name: "a limit that metrics do not have",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p99("latency").in("a").below("50 ms")]'],
    says: "<*>does not load: <*> A metric has below, atMost, above, atLeast, where and within.",
  },
  {
    name: "an extracted value without its statistic",
    fields: [
      'target: http("localhost:8000", { extract: { score: "score" } })',
      "load: hold(4)",
      'assert: [extracted("score").is(1)]',
    ],
    says: '<*>does not load: <*> Write its statistic first: extracted("NAME").mean().below(1).',
  },
  {
    name: "a throughput with a unit",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [throughput().above("100/s")]'],
    says: '6:12, assert[0]: must be a number (got "100/s"). Write 100, without quotes.',
  },
  {
    name: "a goodput in percent, which is a rate",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [goodput({ latency: "1 s" }).atLeast("95 %")]'],
    says: '6:12, assert[0]: must be a number (got "95 %").',
  },
  {
    name: "an error rate as text",
    fields: ["target: embedded()", "load: hold(4)", 'assert: ["errorRate < 1%"]'],
    says: '6:12, assert[0]: must be an assertion such as p99().below("25 ms") (got "errorRate < 1%"). Write errorRate().below("1 %").',
  },
  {
    name: "a tag without a value for some inputs",
    fields: [
      "target: embedded()",
      "load: hold(4)",
      'tags: ({ index }) => ({ half: index > 3 ? "second" : null, all: 1 })',
    ],
  },
  {
    name: "a tag that is an object",
    fields: ["target: embedded()", "load: hold(4)", "tags: ({ tensors }) => ({ tensors })"],
  },
  {
    name: "a short name in goodput",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: true })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
      'assert: [goodput({ ttft: "200 ms" }).atLeast(1)]',
    ],
    says: '7:22, assert[0].ttft: <*>. Write timeToFirstToken: "200 ms".',
  },
  {
    name: "a bare number in goodput",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: true })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
      "assert: [goodput({ timeToFirstToken: 200 }).atLeast(1)]",
    ],
    says: '7:22, assert[0].timeToFirstToken: <*> (got 200). Add the unit: "200 s" or "200 ms".',
  },
  {
    name: "goodput of GenAI-Perf",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: true })',
      "inputs: input.prompts({ isl: 20 })",
      "load: hold(4)",
      'assert: [goodput("time_to_first_token:200").atLeast(1)]',
    ],
    says: '7:12, assert[0]: <*> (got "time_to_first_token:200"). Write goodput({ timeToFirstToken: "200 ms" }).',
  },
  {
    name: "a misspelt tag",
    fields: [
      "target: embedded()",
      "load: hold(4)",
      'tags: { length: "long" }',
      'assert: [p99("latency").where({ lenght: "long" }).below("50 ms")]',
    ],
    says: "7:12, assert[0]: no request has these tags (got lenght is long). Did you mean the tag length? The tags are length: long.",
  },
  {
    name: "a value that no tag has",
    fields: [
      "target: embedded()",
      "load: hold(4)",
      'tags: { length: "long" }',
      'assert: [p99("latency").where({ length: "short" }).below("50 ms")]',
    ],
    says: "7:12, assert[0]: no request has these tags (got length is short). The tags are length: long.",
  },
  {
    name: "a tag where nothing has tags",
    fields: [
      "target: embedded()",
      "load: hold(4)",
      'assert: [p99("latency").where({ length: "long" }).below("50 ms")]',
    ],
    says: "6:12, assert[0]: no request has these tags (got length is long). Give the inputs tags.",
    compiles: "entries of inputs can have tags",
  },
  {
    name: "a misspelt member of a mix",
    fields: [
      'target: mix([{ name: "chat", target: embedded() }, { name: "search", target: embedded() }])',
      "load: hold(4)",
      'assert: [p99("latency").where({ target: "chta" }).below("50 ms")]',
    ],
    says: "6:12, assert[0]: no request has these tags (got target is chta). The tags are target: chat, search.",
  },
  {
    name: "a member without a mix",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p99("latency").where({ target: "a" }).below("50 ms")]'],
    says: "6:12, assert[0]: no request has these tags (got target is a). Only requests to the targets of a mix have a target.",
  },
  {
    name: "a misspelt extracted value",
    fields: [
      'target: http("http://localhost:8000/", { extract: { tokens: "usage.total" } })',
      "load: hold(4)",
      'assert: [extracted("token").mean().above(1)]',
    ],
    says: "6:12, assert[0]: <*> (got token). Use tokens.",
  },
  {
    name: "an extracted value that the target does not extract",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [extracted("tokens").mean().above(1)]'],
    says: "6:12, assert[0]: the target extracts no value of this name (got tokens). Name it in extract, in the target's options.",
  },
  {
    name: "a misspelt value of tensors",
    fields: [
      'target: embedded({ extract: { sum: "OUTPUT0[0]" } })',
      "load: hold(4)",
      'assert: [extracted("summ").share("1").below("1 %")]',
    ],
    says: "6:12, assert[0]: the target extracts no value of this name (got summ). Use sum.",
  },
  {
    name: "a share without its sign",
    fields: [
      'target: embedded({ extract: { sum: "OUTPUT0[0]" } })',
      "load: hold(4)",
      'assert: [extracted("sum").share("1").below(1)]',
    ],
    says: '6:12, assert[0]: <*> (got 1). Write "1 %".',
  },
  {
    name: "a misspelt derived metric",
    fields: [
      "target: embedded()",
      "load: hold(4)",
      'derive: { cost: { value: "errorRate" } }',
      'assert: [derived("costs").below(1)]',
    ],
    says: "7:12, assert[0]: the scenario derives no metric of this name (got costs). Use cost.",
  },
  {
    name: "a derived metric that the scenario does not define",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [derived("cost").below(1)]'],
    says: "6:12, assert[0]: the scenario derives no metric of this name (got cost). Define it in derive.",
  },
  {
    name: "a misspelt metric in the function of a derived one",
    fields: [
      "target: embedded()",
      "load: hold(4, { requests: 8 })",
      "derive: { cost: { value: (level) => 1 / level.throughputt } }",
    ],
    says: "6:21, derive.cost.value: there is no metric throughputt. Did you mean throughput?",
  },
  {
    name: "statistics of a metric for a number",
    fields: [
      "target: embedded()",
      "load: hold(4, { requests: 8 })",
      "derive: { cost: { value: (level) => level.latency } }",
    ],
  },
  {
    name: "a misspelt metric in an expression",
    fields: ["target: embedded()", "load: hold(4)", 'derive: { cost: { value: "gpuPowr.mean" } }'],
    compiles: "an expression is text",
    says: "6:21, derive.cost.value: there is no metric gpuPowr (got gpuPowr.mean). Did you mean gpuPower?",
  },
  {
    name: "a misspelt direction",
    fields: ["target: embedded()", "load: hold(4)", 'derive: { cost: { value: "throughput", better: "more" } }'],
    says: '6:42, derive.cost.better: must be "lower" or "higher" (got "more").',
  },
  {
    name: "a bare number of seconds before the end",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p99().below("1 s").abortAfter(10)]'],
    says: '6:12, assert[0].abortAfter: <*> (got 10). Add the unit: "10 s" or "10 ms".',
  },
  {
    name: "a number of runs in quotes",
    fields: ["target: embedded()", "load: hold(4)", 'repeat: "5"'],
    says: '6:3, repeat: must be a number of runs, or { until: p99().within("5 %") } (got "5"). Write 5, without quotes.',
  },
  {
    name: "a limit for a precision",
    fields: ["target: embedded()", "load: hold(4)", 'repeat: { until: p99().below("5 ms") }'],
    says: '6:13, repeat.until: must be a precision, not a limit. Write p99("latency").within("5 %").',
  },
];
