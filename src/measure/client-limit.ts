import { formatPct, nsToMs } from "../plan/units.ts";
import type { Measurement } from "./measurement.ts";

/** Checks whether the client, not the server, was the limit of a load. */

const SATURATED_CPU_RATIO = 0.9;
const LAGGING_LOOP_NS = 20e6; // 20 ms

/** Reports whether the sending thread has no CPU time left. */
export function isBusy({ health }: Pick<Measurement, "health">): boolean {
  return health.cpuRatio >= SATURATED_CPU_RATIO;
}

/** Formats the CPU time of a thread: `93 % of a core`. */
export function ofCore(cpuRatio: number): string {
  return `${formatPct(cpuRatio, "whole")} of a core`;
}

/** Formats the note that the client may have been the limit. @param reason of {@link saturationReason} */
export function clientLimitText(reason: string): string {
  return `the client may have been the limit, not the server: ${reason}`;
}

/** Returns why the client, not the server, may have been the limit; undefined if it was not. */
export function saturationReason(window: Measurement): string | undefined {
  const { cpuRatio, coreWaitRatio = 0, loopLagMaxNs, loopLagMeanNs } = window.health;
  const used = `the client used ${ofCore(cpuRatio)}`;
  if (isBusy(window)) return used;
  if (cpuRatio + coreWaitRatio >= SATURATED_CPU_RATIO)
    return `${used} and waited for one ${formatPct(coreWaitRatio, "whole")} of the time`;
  if (loopLagMeanNs >= LAGGING_LOOP_NS)
    return `the client's event loop was ${nsToMs(loopLagMeanNs).toFixed(1)} ms late on average (at most ${nsToMs(loopLagMaxNs).toFixed(1)} ms)`;
  return undefined;
}
