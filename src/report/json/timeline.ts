import type { TimelineBucket, TimelineInterval } from "../../measure/timeline.ts";
import { nsToSec, nsToUs } from "../../plan/units.ts";
import type { TimelineJson } from "../schema/level.ts";
import type { IntervalJson } from "../schema/over-time.ts";

/** Time lines in Rampart's JSON report. */

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
