import { precisionOf } from "../measure/intervals/over-runs.ts";
import { valuesOverRuns } from "../measure/verdicts.ts";
import type { PrecisionPlan } from "../plan/assertions.ts";
import type { Plan, RepeatPlan } from "../plan/plan.ts";
import type { RunError } from "../plan/problem.ts";
import { judgedInRuns } from "../result/judged-levels.ts";
import type { RepeatedResult, RepeatPrecision } from "../result/repeated-result.ts";
import type { RunResult } from "../result/run-result.ts";
import { nowNs, toEpochNs } from "../runtime/clock.ts";

/**
 * Runs a plan as often as it asks for: `atLeast` times, then until the confidence interval over runs is narrow enough, but at
 * most `atMost` times. A run that was interrupted or ended with an error is the last one.
 * @param runOnce runs the plan once; receives the number of the run, from 1
 */
export async function repeatRuns(
  plan: Plan,
  { atLeast, atMost, until }: RepeatPlan,
  runOnce: (run: number) => Promise<RunResult>,
): Promise<RepeatedResult> {
  const runs: RunResult[] = [];
  let precision: RepeatPrecision | undefined;
  while (runs.length < atMost) {
    const result = await runOnce(runs.length + 1);
    runs.push(result);
    if (result.isInterrupted || result.error !== undefined) break;
    precision = until && findPrecision(plan, until, runs);
    if (runs.length >= atLeast && precision?.isReached === true) break;
  }
  return { runs, ...(until === undefined ? {} : { precision: precision ?? { ratio: undefined, isReached: false } }) };
}

/** Returns the result of a run that could not start. @param earlier a run that did start */
export function unstartedRun({ prepared }: RunResult, error: RunError): RunResult {
  return {
    prepared,
    levels: [],
    sentCount: 0,
    completedCount: 0,
    failedCount: 0,
    cancelledCount: 0,
    failures: [],
    connectionCount: 0,
    slotCount: 0,
    resendCount: 0,
    server: undefined,
    isInterrupted: error.code === "interrupted",
    error: error.code === "interrupted" ? undefined : error,
    laneErrors: [],
    startEpochNs: toEpochNs(nowNs()),
    durationNs: 0,
  };
}

/**
 * Returns the precision of a metric at the level with the lowest precision, or for a search at the highest load of each run. A
 * level that a run did not measure has no precision.
 */
function findPrecision(plan: Plan, until: PrecisionPlan, all: readonly RunResult[]): RepeatPrecision {
  const { runs, identify } = judgedInRuns(all);
  const reached = valuesOverRuns(until, runs, plan.target.batchSize, identify).map(
    ({ over }) => over && precisionOf(over),
  );
  const known = reached.filter((ratio) => ratio !== undefined);
  if (known.length === 0 || known.length < reached.length) return { ratio: undefined, isReached: false };
  const widest = Math.max(...known);
  return { ratio: widest, isReached: widest <= until.ratio };
}
