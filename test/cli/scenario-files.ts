import { createFolder, type ProcessResult, runRampart } from "./rampart-process.ts";

/** Scenario files for tests. */

/** A server that takes a while, so that a run for a time needs no core for itself. */
const TARGET = 'embedded({ latency: "2 ms" })';

/** The text of a scenario. @param parts source text of its fields */
export function scenarioText(parts: Readonly<Record<string, string>>): string {
  const fields = { name: '"a test"', target: TARGET, load: "hold(1, { requests: 10 })", ...parts };
  return [
    'import * as api from "rampart";',
    "const { mean, defineScenario, embedded, errorRate, hold, input, p99, ramp, rate, rateSteps, steps, throughput, triton } = api;",
    "const { embeddedLlm, goodput, mlperf, openai, outputTokensPerSec } = api;",
    "export default defineScenario({",
    ...Object.entries(fields).map(([key, value]) => `  ${key}: ${value},`),
    "});",
    "",
  ].join("\n");
}

/** Runs the scenario of these fields in a folder of its own. */
export async function runText(
  parts: Readonly<Record<string, string>>,
  ...flags: readonly string[]
): Promise<ProcessResult> {
  using folder = createFolder({ "x.ts": scenarioText(parts) });
  return await runRampart(["run", "x.ts", ...flags], { cwd: folder.path });
}
