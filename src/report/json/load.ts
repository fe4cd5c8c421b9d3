import { checkLittlesLaw, LITTLES_LAW_TOLERANCE_RATIO } from "../../measure/in-flight.ts";
import type { Measurement } from "../../measure/measurement.ts";
import type { Plan } from "../../plan/plan.ts";
import { type DeliveredLevel, loadDelivery } from "../notes/load-delivery.ts";
import type { DeliveryJson, InFlightJson } from "../schema/level.ts";

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
