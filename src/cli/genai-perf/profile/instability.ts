import { explainInstability, type Remedy } from "../../../measure/instability.ts";
import { askedRate } from "../../../report/scheduled-rate.ts";
import type { RunResult } from "../../../result/run-result.ts";

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
      return [`the measurement is not stable: ${moved}; ${cause}. ${ADVICE[remedy]}`];
    }
    if (!isLatencyUnstable) return [];
    return ["only throughput is stable, which is enough for asynchronous requests; latency is not."];
  });
}

const ADVICE: Readonly<Record<Remedy, string>> = {
  "less-load": "Lower the load, or give the client more of the machine.",
  "longer-windows": "Raise --measurement-interval.",
  "more-trials": "Raise --measurement-interval, or send --warmup-request-count requests first.",
  "wider-tolerance": "Raise --stability-percentage a little, or --measurement-interval.",
};
