import type { Plan } from "../../../plan/plan.ts";
import { inputKindOf } from "../../../registry/input-kinds.ts";
import { loadModeOf } from "../../../registry/load-modes.ts";

/**
 * How many requests' data a plan sends, beginning with the first entry: what lies behind them need not be made. A warm-up begins with the
 * first entry too. Undefined where the number is not known before the run, and where the load goes by the data.
 */
export function neededEntries({ load, inputs, measurement, target }: Plan): number | undefined {
  const { mode, warmupRequests, warmupMs = 0 } = measurement;
  if (mode.kind !== "requests" || mode.count === null || warmupMs > 0) return undefined;
  const isInOrder = inputKindOf(inputs).isInOrder?.(inputs) === true;
  const loadMode = loadModeOf(load);
  const isCounted = loadMode.requestCount === undefined && loadMode.ramp?.(load)?.isWhole !== true;
  return isInOrder && isCounted ? Math.max(mode.count, warmupRequests) * target.batchSize : undefined;
}
