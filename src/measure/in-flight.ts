import { plural } from "../plan/units.ts";
import type { Measurement } from "./measurement.ts";
import { sumOfValues } from "./sketch.ts";

/** Requests in flight, and whether they agree with Little's law. */

/**
 * Returns the mean number of requests in flight in a window. A request that began before the window or ended after it counts with
 * its time in the window.
 */
export function meanInFlight({ inFlightSumNs, durationNs }: Measurement): number {
  return durationNs > 0 ? inFlightSumNs / durationNs : 0;
}

/** Maximum relative difference between Little's law and the measured mean under a steady load. */
export const LITTLES_LAW_TOLERANCE_RATIO = 0.1;

/** Little's law in a window: mean requests in flight = throughput × mean latency. */
interface LittlesLaw {
  readonly inFlightMean: number;
  /** Throughput × mean latency of the successful requests. */
  readonly expectedMean: number;
  /** Whether the two means agree within {@link LITTLES_LAW_TOLERANCE_RATIO}. */
  readonly isKept: boolean;
}

/** Compares the measured requests in flight with throughput × latency. */
export function checkLittlesLaw(window: Measurement): LittlesLaw {
  const inFlightMean = meanInFlight(window);
  const expectedMean = window.durationNs > 0 ? sumOfValues(window.latency) / window.durationNs : 0;
  const larger = Math.max(inFlightMean, expectedMean);
  return {
    inFlightMean,
    expectedMean,
    isKept: Math.abs(inFlightMean - expectedMean) <= LITTLES_LAW_TOLERANCE_RATIO * larger,
  };
}

/** Minimum change in the number of requests in flight that is named as a cause. */
const FEW_REQUESTS = 10;

/** Explains why throughput × latency differs from the requests in flight, as a sentence without a full stop; undefined if they agree. */
export function explainLittlesLaw(window: Measurement): string | undefined {
  const { inFlightMean, expectedMean, isKept } = checkLittlesLaw(window);
  // Without successful requests there is no latency.
  if (isKept || window.requestCount === 0) return undefined;
  const found = `throughput × mean latency is ${inWords(expectedMean)} in flight, ${round(inFlightMean)} ${plural(round(inFlightMean), "was", "were")}`;
  return `${found}: ${causeOf(window)}`;
}

/** Reports whether requests that failed or were cancelled, which reports count separately, are enough to explain a difference. */
export function hasManyFailed({ requestCount, failedCount, cancelledCount }: Measurement): boolean {
  return failedCount + cancelledCount > requestCount * LITTLES_LAW_TOLERANCE_RATIO;
}

function causeOf(window: Measurement): string {
  const { failedCount, cancelledCount, openBeforeCount, openAfterCount } = window;
  const others = failedCount + cancelledCount;
  if (hasManyFailed(window))
    return `the ${others} ${plural(others, "request")} that failed or ${plural(others, "was cancelled was", "were cancelled were")} in flight too`;
  if (
    Math.abs(openAfterCount - openBeforeCount) > Math.max(FEW_REQUESTS, 2 * Math.min(openAfterCount, openBeforeCount))
  )
    return `the load was not steady: ${openBeforeCount} ${plural(openBeforeCount, "request was", "requests were")} in flight at the start and ${openAfterCount} at the end`;
  return "the measurement is short compared with the latency, so requests cut off at its start and end have a large effect";
}

function inWords(mean: number): string {
  return `${round(mean)} ${plural(round(mean), "request")}`;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
