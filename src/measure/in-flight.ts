import type { WindowResult } from "./window.ts";

/** Requests in flight: how many were on average, by when each was sent and was over, and whether Little's law agrees. */

/** Mean number of requests in flight over a window; those included that began before it or ended after it, each with its time within. */
export function meanInFlight({ inFlightSumNs, durationNs }: WindowResult): number {
  return durationNs > 0 ? inFlightSumNs / durationNs : 0;
}

/** Difference between Little's law and what was in flight that a steady load does not exceed, as a share of the larger. */
export const LITTLES_LAW_TOLERANCE_RATIO = 0.1;

/** Little's law over a window: in flight on average = throughput × average latency. */
export interface LittlesLaw {
  /** Mean number of requests in flight, as measured. */
  readonly inFlightMean: number;
  /** Throughput × average latency of the successful requests. */
  readonly expectedMean: number;
  /** Whether the two agree within {@link LITTLES_LAW_TOLERANCE_RATIO}. */
  readonly isKept: boolean;
}

/** Compares the requests in flight with what throughput and latency say. */
export function checkLittlesLaw(window: WindowResult): LittlesLaw {
  const inFlightMean = meanInFlight(window);
  const expectedMean = window.durationNs > 0 ? window.latency.sumNs / window.durationNs : 0;
  const larger = Math.max(inFlightMean, expectedMean);
  return {
    inFlightMean,
    expectedMean,
    isKept: Math.abs(inFlightMean - expectedMean) <= LITTLES_LAW_TOLERANCE_RATIO * larger,
  };
}

/** Too few requests for a cause to be named. */
const FEW_REQUESTS = 10;

/** Why throughput × average latency differs from what was in flight, as a sentence without a full stop; undefined when it does not. */
export function explainLittlesLaw(window: WindowResult): string | undefined {
  const { inFlightMean, expectedMean, isKept } = checkLittlesLaw(window);
  // Where nothing was answered there is no latency to compare with.
  if (isKept || window.requestCount === 0) return undefined;
  const found = `throughput × average latency is ${round(expectedMean)} requests in flight, ${round(inFlightMean)} were`;
  return `${found}: ${causeOf(window)}`;
}

function causeOf({ requestCount, failedCount, cancelledCount, openBeforeCount, openAfterCount }: WindowResult): string {
  const others = failedCount + cancelledCount;
  if (others > requestCount * LITTLES_LAW_TOLERANCE_RATIO)
    return `the ${others} requests that failed or were cancelled were in flight too`;
  if (
    Math.abs(openAfterCount - openBeforeCount) > Math.max(FEW_REQUESTS, 2 * Math.min(openAfterCount, openBeforeCount))
  )
    return `the load was not steady: ${openBeforeCount} requests were in flight at the start and ${openAfterCount} at the end`;
  return "the measurement is short beside the latency, so the requests cut off at its start and end count much";
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}

/** The time that requests were in flight within each of many equal stretches. Adding a request costs the same however long it took. */
export class InFlightTime {
  private readonly startNs: number;
  private readonly stretchNs: number;
  /** Parts of a stretch, by its index. */
  private readonly partsNs: number[] = [];
  /** By how much the number of requests that fill whole stretches changes at a stretch. */
  private readonly changes: number[] = [];

  constructor(startNs: number, stretchNs: number) {
    this.startNs = startNs;
    this.stretchNs = stretchNs;
  }

  /** Adds a request that was in flight from one moment to another. What was before the start is left out. */
  add(fromNs: number, toNs: number): void {
    const from = Math.max(0, fromNs - this.startNs);
    const to = Math.max(from, toNs - this.startNs);
    const { stretchNs } = this;
    const first = Math.floor(from / stretchNs);
    const last = Math.floor(to / stretchNs);
    const { partsNs, changes } = this;
    while (partsNs.length <= last) {
      partsNs.push(0);
      changes.push(0);
    }
    if (first === last) {
      partsNs[first] = (partsNs[first] as number) + to - from;
      return;
    }
    partsNs[first] = (partsNs[first] as number) + (first + 1) * stretchNs - from;
    partsNs[last] = (partsNs[last] as number) + to - last * stretchNs;
    changes[first + 1] = (changes[first + 1] as number) + 1;
    changes[last] = (changes[last] as number) - 1;
  }

  /** The time in each of the first `count` stretches, in nanoseconds. */
  sumsNs(count: number): number[] {
    let whole = 0;
    return Array.from({ length: count }, (_, index) => {
      whole += this.changes[index] ?? 0;
      return (this.partsNs[index] ?? 0) + whole * this.stretchNs;
    });
  }
}
