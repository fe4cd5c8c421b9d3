import * as v from "valibot";
import { numberHint } from "../nearest-name.ts";
import { defined } from "../objects.ts";
import type { InputsPlan, Plan, TargetPlans } from "../plan.ts";
import { atLeast, filledSchema, isWhole, lazySchema, type PlanOf, protocolSchema, withHint } from "../schema.ts";
import { tokensSchema } from "../tokens.ts";
import { tagsSchema } from "./tags.ts";

/** Several targets that share one load. */
export type MixTargetPlan = PlanOf<typeof mixSchema>;

export type MixMemberPlan = MixTargetPlan["members"][number];

declare module "../plan.ts" {
  interface TargetPlans {
    readonly mix: MixTargetPlan;
  }
}

/** Largest weight of a member. */
const MAX_WEIGHT = 1_000_000;

/** Returns the schema of a mix. The targets and inputs of its members are checked with the schemas of their kinds. */
export function mixSchema() {
  const kind = v.object({ kind: v.string() });
  const member = v.object({
    name: filledSchema(),
    weight: weightSchema(),
    target: lazySchema<TargetPlans[Exclude<keyof TargetPlans, "mix">]>(() => kind),
    inputs: lazySchema<InputsPlan>(() => kind),
    /** Absent: tokens of this member are not measured. */
    tokens: v.exactOptional(tokensSchema()),
    /** Tags of the member's requests, in addition to those of the whole run. */
    tags: v.exactOptional(tagsSchema()),
  });
  return v.object({
    kind: v.literal("mix"),
    /** `grpc` if any member uses it. */
    protocol: protocolSchema(),
    isStreaming: v.boolean(),
    /** Throughput counts requests, because the members' items differ. */
    batchSize: v.literal(1, "must be 1"),
    /** Members with different names. */
    members: v.pipe(v.array(member), v.minLength(2, "must be two or more")),
  });
}

/** Returns the schema of a member's weight. Its share of the requests is its weight divided by the sum of all weights. */
export function weightSchema() {
  // Only their ratios count, so a percentage can be written without the sign.
  const number = withHint(v.number("must be a number"), (given) => numberHint(String(given).replace("%", "")));
  return v.pipe(number, isWhole(), atLeast(1), v.maxValue(MAX_WEIGHT, "must be 1,000,000 or less"));
}

/** Returns the plan of a member as if it were measured alone, without assertions. */
export function memberPlanOf(plan: Plan, { name, target, inputs, tokens, tags }: MixMemberPlan): Plan {
  const { tokens: _, ...measurement } = plan.measurement;
  const { tags: __, derived: ___, ...rest } = plan;
  return {
    ...rest,
    name,
    target,
    inputs,
    measurement: { ...measurement, ...defined({ tokens }) },
    assertions: [],
    ...defined({ limits: plan.limits && [], tags }),
  };
}
