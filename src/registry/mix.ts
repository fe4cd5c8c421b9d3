import type { Plan, TargetPlan } from "../plan/plan.ts";
import { type MixMemberPlan, memberPlanOf } from "../plan/split/mix.ts";
import { targetKindOf } from "./service-kinds.ts";

/** Returns the members of a mix; empty for any other target. */
export function membersOf(target: TargetPlan): readonly MixMemberPlan[] {
  return targetKindOf(target).members?.(target) ?? [];
}

/** Returns the plan of each member of a mix, as if it were measured alone, without assertions; empty for any other target. */
export function memberPlansOf(plan: Plan): readonly Plan[] {
  return membersOf(plan.target).map((member) => memberPlanOf(plan, member));
}
