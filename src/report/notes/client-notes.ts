import { type ClientLag, clientLagOf, explainLag, reportedTimes } from "../../measure/client-lag.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { saturationReason } from "../../measure/metrics.ts";
import { formatPct } from "../../plan/units.ts";
import { formatTime } from "../model/values.ts";
import type { Finding } from "./load-notes.ts";

/** Says when the client itself may be in the numbers of a level: it was late, or it was the limit. */
export function findClientLimit(window: Measurement): Finding | undefined {
  const lag = clientLagOf(window);
  // The lag says more: what a busy client does to the times.
  if (explainLag(lag, reportedTimes(window)) !== undefined)
    return { code: "client-late", severity: "caution", texts: [describeLag(lag)] };
  const reason = saturationReason(window);
  if (reason === undefined) return undefined;
  return {
    code: "client-limit",
    severity: "caution",
    texts: [`the client may have been the limit, not the server: ${reason}`],
  };
}

/** A smaller part of the time is noise. */
const LEAST_RATIO = 0.05;

/** Says how late the client was, in the measure that shows it best, and what to do. */
function describeLag({ coreWaitRatio = 0, loopLagMeanNs, loopLagP99Ns, sendMeanNs }: ClientLag): string {
  const advice = "give it a core of its own, or lower the load";
  if (coreWaitRatio >= LEAST_RATIO)
    return `the client waited for a core ${formatPct(Number(coreWaitRatio.toPrecision(2)))} of the time, so times may be too long: ${advice}`;
  if (sendMeanNs > loopLagMeanNs) return `the client took ${formatTime(sendMeanNs)} to send a request: ${advice}`;
  const p99 = loopLagP99Ns === undefined ? "" : ` (p99 ${formatTime(loopLagP99Ns)})`;
  return `the client woke up about ${formatTime(loopLagMeanNs)}${p99} late, so times may be too long: ${advice}`;
}
