/** Scenario files for tests. */

/** The text of a scenario. @param parts source text of its fields */
export function scenarioText(parts: Readonly<Record<string, string>>): string {
  const fields = { name: '"a test"', target: "embedded()", load: "hold(1, { requests: 10 })", ...parts };
  return [
    'import * as api from "rampart";',
    "const { average, defineScenario, embedded, errorRate, hold, input, p99, ramp, rate, rateSteps, steps, throughput, triton } = api;",
    "const { embeddedLlm, goodput, mlperf, openai, outputTokensPerSec } = api;",
    "export default defineScenario({",
    ...Object.entries(fields).map(([key, value]) => `  ${key}: ${value},`),
    "});",
    "",
  ].join("\n");
}
