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

/** Returns how to write an option that the language does not have; undefined for a name that is just unknown. @param keys its path */
export function renamedOption(keys: readonly string[]): string | undefined {
  const name = keys.at(-1) ?? "";
  const found = OPTIONS.get(`${keys.at(-2)}.${name}`) ?? OPTIONS.get(name);
  return found === undefined ? undefined : `Write ${found}.`;
}
