import type { LoadPlan } from "../plan/load-plan.ts";
import { seedOfNumber } from "../runtime/random.ts";

/** Returns a load with the arrivals of another draw. @param number number of the draw; 0: the load's own */
export function drawLoad<L extends LoadPlan>(load: L, number: number): L {
  if (!("phases" in load)) return drawPart(load, number);
  return { ...load, phases: load.phases.map((phase) => ({ ...phase, load: drawLoad(phase.load, number) })) };
}

/**
 * Returns a part of a plan with the seed of another draw, if it has one and uses it. @param number number of the draw;
 * 0: the part's own
 */
export function drawPart<T extends object>(part: T, number: number): T {
  if (!("seed" in part) || typeof part.seed !== "number") return part;
  if ("distribution" in part && part.distribution === "constant") return part;
  return { ...part, seed: seedOfNumber(part.seed, "draw", number) };
}
