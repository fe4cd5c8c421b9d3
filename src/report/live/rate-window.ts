import { nsToSec, secToNs } from "../../plan/units.ts";
import { type LevelTally, RECENT_RATIOS, type RecentRates } from "./run-snapshot.ts";

/** Rates and percentiles over the last seconds of the current level. */

const WINDOW_SEC = 5;
/** Marks at most this close together, so that reading often costs no memory. */
const MARK_NS = 0.25e9;

interface Mark {
  readonly atNs: number;
  readonly endedCount: number;
  readonly responseCount: number;
  readonly latencies: Float64Array;
  readonly firstResponses: Float64Array | undefined;
}

/** Remembers the state at marks in the past, from which it computes. */
export class RateWindow {
  private readonly isStreaming: boolean;
  private marks: Mark[] = [];

  constructor(isStreaming: boolean) {
    this.isStreaming = isStreaming;
  }

  /** Forgets the past. @param responseCount of all requests, also those in flight */
  restart(atNs: number, endedCount: number, responseCount: number, level: LevelTally): void {
    this.marks = [markOf(atNs, endedCount, responseCount, level)];
  }

  /** Returns the rates up to now. The parameters are those of `restart`. */
  read(atNs: number, endedCount: number, responseCount: number, level: LevelTally): RecentRates {
    this.forgetBefore(atNs - secToNs(WINDOW_SEC));
    const [before] = this.marks as [Mark];
    const seconds = nsToSec(atNs - before.atNs);
    const perSec = (count: number): number => (seconds > 0 ? Math.max(0, count) / seconds : 0);
    const rates = {
      requestsPerSec: perSec(endedCount - before.endedCount),
      chunksPerSec: this.isStreaming ? perSec(responseCount - before.responseCount) : undefined,
      latencyNs: level.latency.quantilesSince(before.latencies, RECENT_RATIOS),
      firstResponseNs: level.firstResponse?.quantilesSince(before.firstResponses, RECENT_RATIOS),
    };
    if (atNs - (this.marks.at(-1) as Mark).atNs >= MARK_NS)
      this.marks.push(markOf(atNs, endedCount, responseCount, level));
    return rates;
  }

  /** Forgets marks before a time, except the last of them. If readings are far apart, each covers its own interval. */
  private forgetBefore(atNs: number): void {
    const { marks } = this;
    while (marks.length > 1 && (marks[1] as Mark).atNs <= atNs) marks.shift();
  }
}

function markOf(atNs: number, endedCount: number, responseCount: number, level: LevelTally): Mark {
  return {
    ...{ atNs, endedCount, responseCount },
    latencies: level.latency.counts.slice(),
    firstResponses: level.firstResponse?.counts.slice(),
  };
}
