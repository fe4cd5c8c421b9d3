import { type ClientLag, clientLagOf, explainLag, reportedTimes } from "../../measure/client-lag.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { saturationReason } from "../../measure/metrics.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatPct } from "../../plan/units.ts";
import type { LevelResult, PreparedRun } from "../../result/run-result.ts";
import { formatTime } from "../model/values.ts";
import { whyLate } from "./load-delivery.ts";
import type { Finding } from "./load-notes.ts";

/**
 * Notes about the client itself. When it was late, busy, or sent requests later than they were due, the numbers of a level may show the
 * client instead of the server. The remedy is at the client.
 */

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

/** Reports requests that were sent later than due. @param isClientKnown whether another note is about the client */
export function findLateSends(
  plan: Plan,
  prepared: PreparedRun,
  result: LevelResult,
  isClientKnown: boolean,
): Finding[] {
  const shortfall = whyLate({ ...prepared, plan }, result);
  if (shortfall === undefined) return [];
  // The delivered load has the rates.
  const { late, cause, bound } = shortfall;
  const why = bound === "client" && isClientKnown ? [] : [cause];
  const texts = [...(late === undefined ? [] : [`${late}: look at "scheduled p99"`]), ...why];
  return texts.length === 0 ? [] : [{ code: "sent-late", severity: "caution", texts }];
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
