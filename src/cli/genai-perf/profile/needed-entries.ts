import type { Plan } from "../../../plan/plan.ts";
import { inputKindOf } from "../../../registry/input-kinds.ts";
import { loadModeOf } from "../../../registry/load-modes.ts";

/**
 * Returns how many entries a plan sends, starting with the first. Later entries need not be created. A warm-up also starts with the first
 * entry. Undefined if the number is unknown before the run, or the data determines the load.
 */
export function neededEntries({ load, inputs, measurement, target }: Plan): number | undefined {
  const { mode, warmupRequests, warmupMs = 0 } = measurement;
  if (mode.kind !== "requests" || mode.count === null || warmupMs > 0) return undefined;
  const isInOrder = inputKindOf(inputs).isInOrder?.(inputs) === true;
  const loadMode = loadModeOf(load);
  const isCounted = loadMode.requestCount === undefined && loadMode.ramp?.(load)?.isWhole !== true;
  return isInOrder && isCounted ? Math.max(mode.count, warmupRequests) * target.batchSize : undefined;
}
