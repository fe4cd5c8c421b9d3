import { judge } from "../../measure/verdicts.ts";
import { defined } from "../../plan/defined.ts";
import type { Plan } from "../../plan/plan.ts";
import { levelUnitOf } from "../../registry/load-modes.ts";
import type { FindMaxResult, LevelLimits } from "../../result/run-result.ts";
import type { LimitsJson } from "../schema/level.ts";
import type { FindMaxJson } from "../schema/report-schema.ts";
import { toEstimateJson, toValueJson } from "./metrics.ts";

/** Converts the result of a search to JSON. */
export function toFindMaxJson({ limits = [], target, load }: Plan, result: FindMaxResult): FindMaxJson {
  const { highest = null, next = null, isResolved } = result;
  return {
    limits: limits.map((limit) => judge(limit, [], target.batchSize).text),
    unit: levelUnitOf(load),
    highest,
    next,
    isResolved,
  };
}

/** Converts the limits of a level to JSON. */
export function toLimitsJson({ state, reason, verdicts }: LevelLimits): LimitsJson {
  return defined({
    state,
    reason,
    verdicts: verdicts.map(({ limit, state: ofLimit, estimate, aboveRatio }) =>
      defined({
        text: judge(limit, [], 1).text,
        state: ofLimit,
        limit: toValueJson(limit.metric, limit.limit),
        measured: estimate && toEstimateJson(limit.metric, estimate),
        aboveRatio,
      }),
    ),
  });
}
