import type { WrongScenario } from "./wrong-scenario.ts";

/** Durations, numbers and loads. */
export const LOADS: readonly WrongScenario[] = [
  {
    name: "a bare number for a duration",
    fields: ["target: embedded()", "load: hold(4, { for: 30 })"],
    says: '5:19, load.for: must be a duration with its unit, such as "250 us", "25 ms", "5 s" or "2 min" (got 30). Add the unit: "30 s" or "30 ms".',
  },
  {
    name: "a unit that is none",
    fields: ["target: embedded()", 'load: hold(4, { for: "30 sec" })'],
    says: '5:19, load.for: must be a duration with its unit, such as "250 us", "25 ms", "5 s" or "2 min" (got "30 sec"). Write "30 s".',
  },
  {
    name: "days",
    fields: ["target: embedded()", 'load: hold(4, { for: "1d" })'],
    says: '5:19, load.for: must be a duration with its unit, such as "250 us", "25 ms", "5 s" or "2 min" (got "1d"). The units are <*>',
  },
  {
    name: "a duration in quotes without its unit",
    fields: ["target: embedded()", 'load: hold(4, { for: "30" })'],
    says: '5:19, load.for: must be a duration with its unit, such as "250 us", "25 ms", "5 s" or "2 min" (got "30"). Add the unit: "30 s" or "30 ms".',
  },
  {
    name: "a bare number for a limit",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [p99("latency").below(50)]'],
    says: '6:12, assert[0]: must be a duration with its unit, such as "250 us", "25 ms", "5 s" or "2 min" (got 50). Add the unit: "50 s" or "50 ms".',
  },
  {
    name: "one and a half users",
    fields: ["target: embedded()", 'load: hold(1.5, { for: "1 s" })'],
    says: "5:3, load.concurrency: must be a whole number (got 1.5). Write 1 or 2.",
  },
  {
    name: "no users",
    fields: ["target: embedded()", "load: hold(0)"],
    says: "5:3, load.concurrency: must be 1 or more (got 0). Write 1 or a larger number.",
  },
  {
    name: "more users than anybody has",
    fields: ["target: embedded()", "load: hold(1e12)"],
    says: "5:3, load.concurrency: must be 1,000,000,000 at most (got 1000000000000). Write 1,000,000,000 or a smaller number.",
    compiles: "a number is not looked at",
  },
  {
    name: "a spike that is none",
    fields: ["target: embedded()", 'load: spike({ base: 4, peak: 2, at: "1 s", for: "1 s" })'],
    says: "5:26, load.peak: must be above the base of 4 (got 2). Give a higher peak.",
    compiles: "two numbers are not compared",
  },
  {
    name: "a rate below 0",
    fields: ["target: embedded()", "load: rate(-5)"],
    says: "5:3, load.perSec: must be above 0 (got -5). Write a larger number<*>",
  },
  {
    name: "an error rate as a number of percent",
    fields: ["target: embedded()", "load: hold(4)", "assert: [errorRate().below(5)]"],
    says: '6:12, assert[0]: <*> (got 5). Write "5 %".',
  },
  {
    name: "an error rate as a ratio",
    fields: ["target: embedded()", "load: hold(4)", "assert: [errorRate().below(0.01)]"],
    says: '6:12, assert[0]: <*> (got 0.01). Write "1 %".',
  },
  {
    name: "an error rate in quotes without its sign",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [errorRate().below("1")]'],
    says: '6:12, assert[0]: must be a percentage with its sign, such as "1 %" (got "1"). Write "1 %".',
  },
  {
    name: "a percentile as a ratio",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [percentile(0.99).below("1 s")]'],
    says: "6:12, assert[0]: must have a percentile of 1 or more (got 0.99). Write 99.",
  },
  {
    name: "a percentile of 100",
    fields: ["target: embedded()", "load: hold(4)", 'assert: [percentile(100).below("1 s")]'],
    says: "6:12, assert[0]: must have a percentile below 100 (got 100). Use max(…)<*>",
  },
  {
    name: "a rate as text with a unit",
    fields: ["target: embedded()", 'load: rate("100/s")'],
    says: '5:3, load.perSec: must be one rate: rateSteps([…]) takes several (got "100/s"). Write 100, without quotes.',
  },
  {
    name: "a rate per minute",
    fields: ["target: embedded()", 'load: rate("6000/min")'],
    says: '5:3, load.perSec: must be one rate: rateSteps([…]) takes several (got "6000/min"). Write 100, without quotes.',
  },
  {
    name: "a search with its ends beside its limit",
    fields: ["target: embedded()", 'load: findMax({ from: 1, to: 8, where: p99().below("1 s"), for: "1 s" })'],
    says: [
      "5:19, load.from: is not an option here. Write range: ramp(1, 64).",
      "5:28, load.to: is not an option here. Write range: ramp(1, 64).",
      '5:62, load.for: is not an option here. Write forAtMost: "30 s".',
    ],
  },
  {
    name: "a search with a bound that may be of the load or of the time",
    fields: ["target: embedded()", 'load: findMax({ where: p99().below("1 s"), atMost: 64 })'],
    says: '5:46, load.atMost: is not an option here. Write range: ramp(1, 64) for the highest load, or forAtMost: "30 s" for the longest measurement of each load.',
  },
  {
    name: "a load that is an object with nearly the name of others",
    fields: ["target: embedded()", "load: { concurrent: 4 }"],
    says: '5:3, load: must be <*> (got {"concurrent":4}). Write load: hold(16, { for: "30 s" }).',
  },
  {
    name: "a step without its name",
    fields: ["target: embedded()", "load: ramp(1, 8, 2)"],
    says: "5:3, load: <*> (got 2). Write { requests: 2 } or, in a ramp, { step: 2 }.",
  },
  {
    name: "a time of a soak without its name",
    fields: ["target: embedded()", 'load: soak(4, "2 h")'],
    says: '5:3, load: <*> (got "2 h"). Write { for: "2 h" }.',
  },
  {
    name: "a largest error rate without its sign",
    fields: ["target: embedded()", "load: hold(4)", 'maxErrorRate: "5"'],
    says: '6:3, maxErrorRate: must be a percentage with its sign, such as "1 %" (got "5"). Write "5 %".',
  },
  {
    name: "a timeout in seconds",
    fields: ["target: embedded()", "load: hold(4)", "timeout: 30"],
    says: '6:3, timeout: must be a duration with its unit, such as "250 us", "25 ms", "5 s" or "2 min" (got 30). Add the unit: "30 s" or "30 ms".',
  },
  {
    name: "a tolerance without its sign",
    fields: ["target: embedded()", "load: hold(4)", "stability: { within: 10 }"],
    says: '6:16, stability.within: must be a percentage with its sign, such as "1 %" (got 10). Write "10 %".',
  },
  {
    name: "a seed in quotes",
    fields: ["target: embedded()", "load: hold(4)", 'seed: "1"'],
    says: '6:3, seed: must be a number (got "1"). Write 1, without quotes.',
  },
  {
    name: "no threads",
    fields: ["target: embedded()", "load: hold(4)", "workers: 0"],
    says: "6:3, workers: must be 1 or more (got 0). Write 1 or a larger number.",
    compiles: "a number is not looked at",
  },
  {
    name: "all threads",
    fields: ["target: embedded()", "load: hold(4)", 'workers: "all"'],
    says: '6:3, workers: <*> (got "all").',
  },
  {
    name: "a number for a load",
    fields: ["target: embedded()", "load: 16"],
    says: "5:3, load: must be ramp(…), <*> or findMax(…) (got 16). Write hold(16).",
  },
  {
    name: "a time and a number of requests",
    fields: ["target: embedded()", 'load: hold(4, { for: "1 s", requests: 100 })'],
    says: "5:31, load.requests: cannot be given together with for. Give only one of them.",
  },
  {
    name: "a ramp by levels that falls",
    fields: ["target: embedded()", "load: ramp(8, 1)"],
    says: '5:3, load: a ramp over levels cannot fall from 8 to 1. Write ramp(1, 8), or give it a duration: { over: "1 min" }.',
    compiles: "two numbers are not compared",
  },
  {
    name: "a ramp over a time up to the knee",
    fields: ["target: embedded()", 'load: ramp(1, 8, { over: "1 min", until: "knee" })'],
    says: "5:22, load.over: is the length of the whole measurement and cannot be given together with step, until, for or requests. Leave them out.",
  },
  {
    name: "a ramp of rates from nothing to nothing",
    fields: ["target: embedded()", 'load: rateRamp(0, 0, { over: "1 min" })'],
    says: "5:3, load.to: must be above 0 when the start is 0 (got 0). Write rateRamp(0, 100).",
    compiles: "two numbers are not compared",
  },
  {
    name: "the ends of a ramp in a list",
    fields: ["target: embedded()", "load: ramp([1, 8])"],
    says: "5:3, load.from: must be a number (got [1,8]). Write it like ramp(1, 64).",
  },
  {
    name: "levels as arguments",
    fields: ["target: embedded()", "load: steps(1, 2, 4)"],
    says: "5:9: steps(levels, options): takes 2 arguments (got 4). Write the levels as a list: steps([1, 2, 4]).",
  },
  {
    name: "a misspelt option of a ramp",
    fields: ["target: embedded()", "load: ramp(1, 8, { steps: 2 })"],
    says: "5:22, load.steps: <*>. Did you mean step?",
  },
  {
    name: "a range of perf_analyzer for a ramp",
    fields: ["target: embedded()", 'load: ramp("1:4:1")'],
    says: '5:3, load.from: must be a number (got "1:4:1"). Write it like ramp(1, 64).',
  },
  {
    name: "sessions as one of several loads",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: true })',
      "inputs: input.prompts({ isl: 20, osl: 4 })",
      'load: [hold(4, { for: "1 s" }), sessions(4)]',
    ],
    says: '6:35, load[1]: has an end or rules of its own and cannot be one of several phases (got sessions(…)). Use it as the only load. To warm up, write sessions(4, { for: "1 min" }) and warmupFor: "10 s".',
  },
  {
    name: "conversations as one of several loads, whose inputs are right",
    fields: [
      'target: openai("localhost:8000", { model: "m", streaming: true })',
      "inputs: input.prompts({ isl: 20, osl: 4, sessions: { count: 10, turns: 3 } })",
      'load: [hold(4, { for: "1 s" }), sessions(4)]',
    ],
    says: '6:35, load[1]: has an end or rules of its own and cannot be one of several phases (got sessions(…)). Use it as the only load. To warm up, write sessions(4, { for: "1 min" }) and warmupFor: "10 s".',
  },
  {
    name: "a search as one of several loads",
    fields: [
      "target: embedded()",
      'load: [warmup("5 s", hold(2)), findMax({ range: ramp(1, 8), where: [p99("latency").below("50 ms")] })]',
    ],
    says: "5:34, load[1]: has an end or rules of its own and cannot be one of several phases (got findMax(…)). Use it as the only load.",
  },
  {
    name: "a fixed schedule as one of several loads",
    fields: ["target: embedded()", 'inputs: input.json("a.json")', 'load: [hold(4, { for: "1 s" }), fixedSchedule()]'],
    says: "6:35, load[1]: has an end or rules of its own and cannot be one of several phases (got fixedSchedule(…)). Use it as the only load.",
  },
  {
    name: "a search without limits",
    fields: ["target: embedded()", "load: findMax({ range: ramp(1, 8) })"],
    says: '5:3, load.where: is missing. Write where: p99("latency").below("50 ms").',
  },
  {
    name: "a search over a number",
    fields: ["target: embedded()", 'load: findMax({ range: 64, where: [p99().below("1 s")] })'],
    says: "5:19, load.range: must be ramp(…), steps(…), hold(…), rateRamp(…), rateSteps(…) or rate(…) (got 64). Write ramp(1, 64).",
  },
  {
    name: "a search over concurrencies with a limit on due times",
    fields: [
      "target: embedded()",
      'load: findMax({ range: ramp(1, 8), where: [p99("scheduledLatency").below("50 ms")] })',
    ],
    says: '5:46, load.where[0]: scheduledLatency needs a load with a schedule (got findMax(…)). Use "latency", or rate(…), rateRamp(…), intervals(…) or fixedSchedule() as the load.',
  },
  {
    name: "a search over levels with a length",
    fields: ["target: embedded()", 'load: findMax({ range: ramp(1, 8, { for: "5 s" }), where: [p99().below("1 s")] })'],
    says: "5:39, load.range.for: has no effect here: a search measures each load as long as its limits need (got 5 s). Leave it out.",
    compiles: "the options of a load are not in its type",
  },
  {
    name: "a search over a soak test",
    fields: ["target: embedded()", 'load: findMax({ range: soak(4, { for: "1 h" }), where: [p99().below("1 s")] })'],
    says: "5:19, load.range: must be ramp(…), steps(…), hold(…), rateRamp(…), rateSteps(…) or rate(…) (got soak(…)). Write ramp(1, 64).",
  },
  {
    name: "the arguments of a warm-up in the wrong order",
    fields: ["target: embedded()", 'load: [warmup(hold(4), "1 s"), hold(4, { for: "1 s" })]'],
    says: '5:10: warmup(extent, load): begins with another argument, not with a load. Write warmup("10 s", hold(4)).',
  },
  {
    name: "a distribution in the wrong case",
    fields: ["target: embedded()", 'load: rate(50, { distribution: "Poisson", for: "1 s" })'],
    says: '5:20, load.distribution: must be "constant", "poisson" or "gamma" (got "Poisson"). Did you mean "poisson"?',
  },
  {
    name: "the shape of another distribution",
    fields: ["target: embedded()", 'load: rate(50, { distribution: "poisson", smoothness: 0.5, for: "1 s" })'],
    says: '5:45, load.smoothness: belongs to the gamma distribution. Add distribution: "gamma", or leave it out.',
  },
  {
    name: "a soak test without a length",
    fields: ["target: embedded()", "load: soak(4)"],
    says: "5:3, load: <*> (got nothing). Write { for: … }.",
  },
  {
    name: "a list without loads",
    fields: ["target: embedded()", "load: []"],
    says: '5:3, load: must have a load (got []). Write load: hold(16, { for: "30 s" }).',
    compiles: "a list that code makes can be empty",
  },
  {
    name: "a phase without a name",
    fields: ["target: embedded()", "load: phase(hold(4))"],
    says: '5:9: phase(name, load): begins with another argument, not with a load. Write phase("steady", hold(16, { for: "1 min" })).',
  },
];
