import { checkLittlesLaw, LITTLES_LAW_TOLERANCE_RATIO } from "../../measure/in-flight.ts";
import type { WindowResult } from "../../measure/window.ts";

/** Requests in flight as plain data: those at the start and those sent are the ones that ended and those at the end. */
export function toInFlightJson(window: WindowResult): object {
  const { inFlightMean, expectedMean, isKept } = checkLittlesLaw(window);
  return {
    mean: inFlightMean,
    atStart: window.openBeforeCount,
    atEnd: window.openAfterCount,
    littlesLaw: { expectedMean, toleranceRatio: LITTLES_LAW_TOLERANCE_RATIO, isKept },
  };
}
