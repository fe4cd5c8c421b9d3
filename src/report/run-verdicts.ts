import { judgeRuns, type RunsVerdict } from "../measure/verdicts.ts";
import type { Plan } from "../plan/plan.ts";
import { throughputUnitOf } from "../registry/service-kinds.ts";
import { judgedInRuns } from "../result/judged-levels.ts";
import { completeRuns, type RepeatedResult } from "../result/repeated-result.ts";

/** Judges the assertions of a repeated plan on the mean over its complete runs. Without a complete run, none is met. */
export function judgeRepeated(plan: Plan, repeated: RepeatedResult): RunsVerdict[] {
  const { runs, identify } = judgedInRuns(completeRuns(repeated));
  const unit = throughputUnitOf(plan.target);
  return plan.assertions.map((assertion) => judgeRuns(assertion, runs, plan.target.batchSize, unit, identify));
}
