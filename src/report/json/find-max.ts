import { judge } from "../../measure/verdicts.ts";
import type { Plan } from "../../plan/plan.ts";
import type { FindMaxResult, LevelLimits } from "../../result/run-result.ts";
import type { LimitsJson } from "../schema/level.ts";
import type { FindMaxJson } from "../schema/report-schema.ts";

/** Converts the result of a search to JSON. */
export function toFindMaxJson({ limits = [], target }: Plan, result: FindMaxResult): FindMaxJson {
  const { highest = null, next = null, isResolved } = result;
  return { limits: limits.map((limit) => judge(limit, [], target.batchSize).text), highest, next, isResolved };
}

/** Converts the limits of a level to JSON. Times are in nanoseconds, like the limits of assertions. */
export function toLimitsJson({ state, reason, verdicts }: LevelLimits): LimitsJson {
  return {
    state,
    ...(reason === undefined ? {} : { reason }),
    verdicts: verdicts.map(({ limit, state: ofLimit, estimate }) => ({
      text: judge(limit, [], 1).text,
      state: ofLimit,
      limit: limit.limit,
      ...(estimate === undefined ? {} : { value: estimate.value, low: estimate.low, high: estimate.high }),
    })),
  };
}
