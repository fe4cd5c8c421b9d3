/** Names that the language does not have: those that it once had, and those of other tools, each with what to write instead. */

/** Options by their name, or by the field and their name. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ["maxFailureRatio", 'maxErrorRate: "1 %"'],
  ["requestTimeout", 'timeout: "30 s"'],
  ["errorRatio", 'errorRate: "1 %"'],
  ["cutRatio", 'cutRate: "1 %"'],
  ["maxDriftPercent", 'maxDrift: "10 %"'],
  ["withinPercent", 'within: "20 %"'],
  ["cancel.percent", 'share: "5 %"'],
  ["stability.percent", 'within: "10 %"'],
  ["inputs.mix", 'lengths: [{ isl: 100, osl: 20, share: "100 %" }]'],
  ["delayRatio", "delayFactor: 0.5"],
  ["serverTrace.rate", "oneIn: 10"],
  ["ttft", 'timeToFirstToken: "200 ms"'],
  ["itl", 'interTokenLatency: "20 ms"'],
  ["thresholds", 'assert: [p99("latency").below("50 ms")]'],
  ["vus", "load: hold(16)"],
  ["duration", 'for: "30 s"'],
  ["apiKey", 'apiKeyEnv: "NAME", the environment variable that holds it'],
]);

const MLPERF = ["multiStream", "offline", "server", "singleStream"] as const;

/** Functions of the API by their name, with a call that does the same. */
const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ["concurrency", "ramp(1, 64), as in findMax({ over: ramp(1, 64), … })"],
  ["requestRate", "rateRamp(10, 500), as in findMax({ over: rateRamp(10, 500), … })"],
  ["dynamicGrpc", "grpc(…)"],
  ["file", "fileBody(…)"],
  ...MLPERF.map((name) => [name, `mlperf.${name}(…)`] as const),
  ...["choice", "duration", "flag", "integer", "number", "text"].map((name) => [name, `param.${name}(…)`] as const),
  ...["dir", "files", "generate", "json", "payloads", "prompts", "random", "zero"].map(
    (name) => [name, `input.${name}(…)`] as const,
  ),
]);

/** Builders in YAML and JSON by their name, with the new one. */
const IN_DATA: ReadonlyMap<string, string> = new Map([
  ["concurrency", "ramp: { from: 1, to: 64 }"],
  ["requestRate", "rateRamp: { from: 10, to: 500 }"],
  ["dynamicGrpc", "grpc"],
  ...MLPERF.map((name) => [name, `mlperf.${name}`] as const),
]);

/** Returns how to write a builder that YAML and JSON do not have; undefined for a name that is just unknown. */
export function renamedInData(name: string): string | undefined {
  const found = IN_DATA.get(name);
  return found === undefined ? undefined : `Write ${found}.`;
}

/** Returns how to write a function that the API does not have; undefined for a name that is just unknown. */
export function renamedFunction(name: string): string | undefined {
  const found = FUNCTIONS.get(name);
  return found === undefined ? undefined : `Write ${found}.`;
}

/** Returns how to write an option that the language does not have; undefined for a name that is just unknown. @param keys its path */
export function renamedOption(keys: readonly string[]): string | undefined {
  const name = keys.at(-1) ?? "";
  const found = OPTIONS.get(`${keys.at(-2)}.${name}`) ?? OPTIONS.get(name);
  return found === undefined ? undefined : `Write ${found}.`;
}
