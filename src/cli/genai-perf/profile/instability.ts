import { describeRemedy, explainInstability } from "../../../measure/instability.ts";
import { askedRate } from "../../../report/scheduled-rate.ts";
import type { RunResult } from "../../../result/run-result.ts";
import { wordFor } from "../../setting-names.ts";

/** Measurements by intervals that did not become stable: the original fails on them. */

/** Whether a level did not become stable. */
export function isUnstable({ levels }: RunResult): boolean {
  return levels.some(({ outcome }) => outcome === "unstable");
}

/** Why the run did not become stable and what would help, as sentences; none when it did. */
export function describeInstability({ levels, prepared: { plan } }: RunResult): string[] {
  return levels.flatMap(({ instability, window, level, isLatencyUnstable }) => {
    if (instability !== undefined) {
      const { moved, cause, remedy } = explainInstability(instability, window, askedRate(plan, level));
      const advice = wordFor("genai-perf", describeRemedy(remedy, plan.measurement.mode));
      return [`the measurement is not stable: ${moved}; ${cause}. ${advice}`];
    }
    if (!isLatencyUnstable) return [];
    return ["only throughput is stable, which is enough for asynchronous requests; latency is not."];
  });
}
