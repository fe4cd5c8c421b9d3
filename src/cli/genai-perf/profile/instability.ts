import { describeRemedy, explainInstability } from "../../../measure/instability.ts";
import { askedRate } from "../../../report/scheduled-rate.ts";
import type { RunResult } from "../../../result/run-result.ts";
import { wordFor } from "../../setting-names.ts";
import { inGenaiPerf } from "../setting-names.ts";

/** Interval measurements that did not become stable. GenAI-Perf fails on them. */

/** Reports whether any level did not become stable. */
export function isUnstable({ levels }: RunResult): boolean {
  return levels.some(({ outcome }) => outcome === "unstable");
}

/** Explains why the run did not become stable and what would help, in sentences; empty if it was stable. */
export function describeInstability({ levels, prepared: { plan } }: RunResult): string[] {
  return levels.flatMap(({ instability, window, level, isLatencyUnstable }) => {
    if (instability !== undefined) {
      const { moved, cause, remedy } = explainInstability(instability, window, askedRate(plan, level));
      const advice = wordFor(inGenaiPerf, describeRemedy(remedy, plan.measurement.mode));
      return [`the measurement is not stable: ${moved}; ${cause}. ${advice}`];
    }
    if (!isLatencyUnstable) return [];
    return ["only throughput is stable, which is enough for asynchronous requests; latency is not."];
  });
}
