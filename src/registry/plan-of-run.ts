import { drawLoad, drawPart } from "../load/draw-load.ts";
import type { Plan, TargetPlan } from "../plan/plan.ts";
import { seedOfNumber } from "../runtime/random.ts";

/**
 * Returns the plan of one of the runs of a plan, with a seed of its own: that of the plan for the first run, derived ones for the others.
 * Everything that is drawn in the run depends on it. A run with seed 0 draws as the parts of the plan say.
 * @param number from 1
 */
export function planOfRun(plan: Plan, number: number): Plan {
  const seed = seedOfNumber(plan.seed ?? 0, "run", number - 1);
  if (seed === 0 && !("members" in plan.target)) return plan;
  const { cancellation } = plan;
  return {
    ...plan,
    seed,
    target: drawTarget(plan.target, seed),
    load: drawLoad(plan.load, seed),
    inputs: drawPart(plan.inputs, seed),
    ...(cancellation === undefined ? {} : { cancellation: drawPart(cancellation, seed) }),
  };
}

/** Whether a plan draws what it sends, or when. */
export function isDrawn({ load, inputs, cancellation, target }: Plan): boolean {
  const loads = "phases" in load ? load.phases.map((phase) => phase.load) : [load];
  const data = "members" in target ? target.members.map((member) => member.inputs) : [inputs];
  return [...loads, ...data, cancellation ?? {}].some((part) => drawPart(part, 1) !== part);
}

/** Embedded targets draw their latencies, each its own. */
function drawTarget<T extends TargetPlan>(target: T, seed: number): T {
  if ("mock" in target) return { ...target, mock: { ...target.mock, seed } };
  if (!("members" in target)) return target;
  const members = target.members.map((member, index) => ({
    ...member,
    target: drawTarget(member.target, seedOfNumber(seed, "member", index)),
    inputs: drawPart(member.inputs, seed),
  }));
  return { ...target, members };
}
