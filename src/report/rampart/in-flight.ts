import { checkLittlesLaw, LITTLES_LAW_TOLERANCE_RATIO } from "../../measure/in-flight.ts";
import type { Measurement } from "../../measure/measurement.ts";

/** Converts requests in flight to JSON. Those at the start plus the sent ones equal the ended ones plus those at the end. */
export function toInFlightJson(window: Measurement): object {
  const { inFlightMean, expectedMean, isKept } = checkLittlesLaw(window);
  return {
    mean: inFlightMean,
    atStart: window.openBeforeCount,
    atEnd: window.openAfterCount,
    littlesLaw: { expectedMean, toleranceRatio: LITTLES_LAW_TOLERANCE_RATIO, isKept },
  };
}
