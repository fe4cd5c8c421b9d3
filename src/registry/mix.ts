import { shortUnit } from "../measure/metrics/metric-text.ts";
import { type MixMemberPlan, memberPlanOf } from "../plan/groups/mix.ts";
import { TARGET_TAG } from "../plan/groups/tags.ts";
import type { Plan, TargetPlan } from "../plan/plan.ts";
import type { TokensPlan } from "../plan/tokens.ts";
import { DEFAULT_THROUGHPUT_UNIT } from "../service/service.ts";
import { targetKindOf } from "./service-kinds.ts";

/** Returns the unit of a plan's throughput in tables: `infer/s`; `req/s` if responses have tokens. */
export function shownUnitOf(plan: Pick<Plan, "target" | "measurement">): string {
  const unit = shortUnit(targetKindOf(plan.target).throughputUnit ?? DEFAULT_THROUGHPUT_UNIT);
  return tokensPlanOf(plan) === undefined ? unit : unit.replace(DEFAULT_THROUGHPUT_UNIT, "req/s");
}

/** Returns the members of a mix; empty for any other target. */
export function membersOf(target: TargetPlan): readonly MixMemberPlan[] {
  return targetKindOf(target).members?.(target) ?? [];
}

/**
 * Returns how tokens are measured; for a mix, the settings on which its members agree. @param tags only of requests with these.
 * Default: all
 */
export function tokensPlanOf(
  { target, measurement }: Pick<Plan, "target" | "measurement">,
  tags: Readonly<Record<string, string | undefined>> = {},
): TokensPlan | undefined {
  const members = membersOf(target);
  if (members.length === 0) return measurement.tokens;
  const wanted = tags[TARGET_TAG];
  const known = members.flatMap(({ name, tokens }) => (wanted === undefined || name === wanted ? (tokens ?? []) : []));
  const [first] = known;
  return first && { ...first, isStreamed: known.every(({ isStreamed }) => isStreamed) };
}

/** Returns the plan of each member of a mix as if it were measured alone, without assertions; empty for any other target. */
export function memberPlansOf(plan: Plan): readonly Plan[] {
  return membersOf(plan.target).map((member) => memberPlanOf(plan, member));
}
