import type { Plan } from "../../../plan/plan.ts";

/**
 * Returns how many entries a plan sends, starting with the first. Later entries need not be created. A warm-up also starts with the first
 * entry. Undefined if the number is unknown before the run, or the data determines the load.
 */
export function neededEntries({ load, inputs, measurement, target }: Plan): number | undefined {
  const { mode, warmupRequests, warmupMs = 0 } = measurement;
  if (mode.kind !== "requests" || mode.count === null || warmupMs > 0) return undefined;
  const isInOrder = (inputs.kind === "payloads" || inputs.kind === "json") && inputs.isInOrder === true;
  const isCounted = load.kind === "concurrency" || load.kind === "request-rate" || load.kind === "intervals";
  return isInOrder && isCounted ? Math.max(mode.count, warmupRequests) * target.batchSize : undefined;
}
