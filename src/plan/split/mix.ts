import type { InputsPlan, Plan, TargetPlan } from "../plan.ts";
import type { TokensPlan } from "../tokens.ts";
import type { TagsPlan } from "./tags.ts";

/** Several targets that share one load. */
export interface MixTargetPlan {
  readonly kind: "mix";
  /** `grpc` when any member uses it. */
  readonly protocol: "http" | "grpc";
  /** Whether any member streams. */
  readonly isStreaming: boolean;
  /** Throughput counts requests, because the members' items differ. */
  readonly batchSize: 1;
  /** Two or more, with different names. */
  readonly members: readonly MixMemberPlan[];
}

/** A member of a mix. */
export interface MixMemberPlan {
  readonly name: string;
  /** Its share of the requests is its weight over the sum of all weights. Whole, 1 or more. */
  readonly weight: number;
  readonly target: Exclude<TargetPlan, MixTargetPlan>;
  readonly inputs: InputsPlan;
  /** Absent: its tokens are not measured. */
  readonly tokens?: TokensPlan | undefined;
  /** Tags of its requests, besides those of the whole run. */
  readonly tags?: TagsPlan | undefined;
}

declare module "../plan.ts" {
  interface TargetPlans {
    readonly mix: MixTargetPlan;
  }
}

/** Returns the plan of a member as if it were measured alone, without assertions. */
export function memberPlanOf(plan: Plan, { name, target, inputs, tokens, tags }: MixMemberPlan): Plan {
  const { tokens: _, ...measurement } = plan.measurement;
  const { tags: __, ...rest } = plan;
  return {
    ...rest,
    name,
    target,
    inputs,
    measurement: { ...measurement, ...(tokens === undefined ? {} : { tokens }) },
    assertions: [],
    ...(plan.limits === undefined ? {} : { limits: [] }),
    ...(tags === undefined ? {} : { tags }),
  };
}
