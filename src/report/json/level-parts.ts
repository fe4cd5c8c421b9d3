import { clientLagOf, explainLag, reportedTimes } from "../../measure/client-lag.ts";
import { saturationReason } from "../../measure/derived-values.ts";
import { checkLittlesLaw, LITTLES_LAW_TOLERANCE_RATIO } from "../../measure/in-flight.ts";
import type { Measurement } from "../../measure/measurement.ts";
import type { TimelineBucket, TimelineInterval } from "../../measure/timeline.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToMs, nsToSec, nsToUs } from "../../plan/units.ts";
import { type DeliveredLevel, loadDelivery } from "../notes/load-delivery.ts";
import type { ClientJson, DeliveryJson, InFlightJson, TimelineJson } from "../schema/level.ts";
import type { IntervalJson } from "../schema/over-time.ts";

/** Parts of levels. */

/** Converts the cost of measuring to JSON: whether the client was the limit instead of the server, and how late it was. */
export function toClientJson(window: Measurement): ClientJson {
  const { cpuRatio, coreWaitRatio, loopLagMaxNs, loopLagMeanNs, loopLagP99Ns } = window.health;
  const times = reportedTimes(window);
  const lag = clientLagOf(window);
  return {
    sendMeanUs: nsToUs(window.sendMeanNs),
    receiveMeanUs: nsToUs(window.receiveMeanNs),
    overheadRatio: window.overheadPct / 100,
    cpuRatio,
    coreWaitRatio: coreWaitRatio ?? null,
    loopLagMaxMs: nsToMs(loopLagMaxNs),
    loopLagMeanMs: nsToMs(loopLagMeanNs),
    loopLagP99Ms: loopLagP99Ns === undefined ? null : nsToMs(loopLagP99Ns),
    lagWarning: explainLag(lag, times) ?? null,
    saturation: saturationReason(window) ?? null,
  };
}

/** Converts the load asked for and the load delivered to JSON. */
export function toDeliveryJson(plan: Plan, level: DeliveredLevel): DeliveryJson {
  const { unit, asked, delivered, isDelivered } = loadDelivery(plan, level);
  return { unit, asked: asked ?? null, delivered, isDelivered: isDelivered ?? null };
}

/** Converts requests in flight to JSON. Those at the start plus the sent ones equal the ended ones plus those at the end. */
export function toInFlightJson(window: Measurement): InFlightJson {
  const { inFlightMean, expectedMean, isKept } = checkLittlesLaw(window);
  return {
    mean: inFlightMean,
    atStart: window.openBeforeCount,
    atEnd: window.openAfterCount,
    littlesLaw: { expectedMean, toleranceRatio: LITTLES_LAW_TOLERANCE_RATIO, isKept },
  };
}

/** Converts the time line of a level or of phases. */
export function toTimelineJson(buckets: readonly TimelineBucket[]): TimelineJson[] {
  return buckets.map((bucket) => ({
    ...toIntervalJson(bucket),
    latencyMeanUs: bucket.latency === undefined ? null : nsToUs(bucket.latency.meanNs),
    latencyP99Us: bucket.latency === undefined ? null : nsToUs(bucket.latency.p99Ns),
  }));
}

/** Converts an interval. */
export function toIntervalJson({
  startNs,
  endNs,
  requestCount,
  failedCount,
  cancelledCount,
  meanOutstanding,
}: TimelineInterval): IntervalJson {
  return {
    startSec: nsToSec(startNs),
    endSec: nsToSec(endNs),
    requests: requestCount,
    failed: failedCount,
    cancelled: cancelledCount,
    outstandingMean: meanOutstanding,
  };
}
