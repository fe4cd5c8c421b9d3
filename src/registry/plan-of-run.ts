import { drawLoad, drawPart } from "../load/draw-load.ts";
import type { Plan, TargetPlan } from "../plan/plan.ts";
import { seedOfNumber } from "../runtime/random.ts";
import { loadModeOf } from "./load-modes.ts";
import { membersOf } from "./mix.ts";
import { targetKindOf } from "./service-kinds.ts";

/**
 * Returns the plan of one of the runs of a plan, with a seed of its own: that of the plan for the first run, derived ones for the others.
 * Everything that is drawn in the run depends on it. A run with seed 0 draws as the parts of the plan say.
 * @param number from 1
 */
export function planOfRun(plan: Plan, number: number): Plan {
  const seed = seedOfNumber(plan.seed ?? 0, "run", number - 1);
  if (seed === 0 && membersOf(plan.target).length === 0) return plan;
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
  const loads = loadModeOf(load)
    .phases?.(load)
    .map((phase) => phase.load) ?? [load];
  const members = membersOf(target);
  const data = members.length > 0 ? members.map((member) => member.inputs) : [inputs];
  return [...loads, ...data, cancellation ?? {}].some((part) => drawPart(part, 1) !== part);
}

/** Targets that draw anything of their own do so from the seed, each member of a mix from another one. */
function drawTarget<T extends TargetPlan>(target: T, seed: number): T {
  const kind = targetKindOf(target);
  if (kind.withSeed !== undefined) return kind.withSeed(target, seed) as T;
  const members = membersOf(target).map((member, index) => ({
    ...member,
    target: drawTarget(member.target, seedOfNumber(seed, "member", index)),
    inputs: drawPart(member.inputs, seed),
  }));
  return members.length === 0 ? target : { ...target, members };
}
