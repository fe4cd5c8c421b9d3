import { judgePhases, type PhaseVerdict } from "../measure/phase-verdicts.ts";
import { judge, judgeRuns, type RunsVerdict, type Verdict } from "../measure/verdicts.ts";
import type { Plan } from "../plan/plan.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import { throughputUnitOf } from "../registry/service-kinds.ts";
import { judgedInRuns, judgedLevels, measuredLevels, whyUnjudged } from "../result/judged-levels.ts";
import { completeRuns, type RepeatedResult } from "../result/repeated-result.ts";
import type { LevelResult, RunResult } from "../result/run-result.ts";

/** The assertions and checks of a plan's runs. */

/** Judges the assertions of a run. */
export function judgeAssertions(plan: Plan, result: RunResult): Verdict[] {
  const { target, assertions } = plan;
  const unjudged = whyUnjudged(result);
  return assertions.map((assertion, index) => {
    const verdict = judge(assertion, judgedLevels(result), target.batchSize, throughputUnitOf(target));
    if (unjudged !== undefined)
      return { ...verdict, state: "unresolved", measured: undefined, reason: unjudged, needed: undefined };
    return withEarlyEnd(verdict, index, [result]);
  });
}

/** Judges the assertions of a repeated plan on the mean over its complete runs. Without a complete run, all are unresolved. */
export function judgeRepeated(plan: Plan, repeated: RepeatedResult): RunsVerdict[] {
  const { runs, identify } = judgedInRuns(completeRuns(repeated));
  const unit = throughputUnitOf(plan.target);
  return plan.assertions.map((assertion, index) =>
    withEarlyEnd(judgeRuns(assertion, runs, plan.target.batchSize, unit, identify), index, repeated.runs),
  );
}

/** Returns the assertions that more requests would decide. */
export function openVerdicts(plan: Plan, runs: readonly RunResult[]): Verdict[] {
  const [run, ...others] = runs;
  if (run === undefined) return [];
  const verdicts = others.length === 0 ? judgeAssertions(plan, run) : judgeRepeated(plan, { runs });
  return verdicts.filter(({ state, needed }) => state === "unresolved" && needed !== undefined);
}

/** An assertion that ended a run fails. Others cannot pass then, because the rest of the run is unknown. */
function withEarlyEnd<V extends Verdict>(verdict: V, index: number, runs: readonly RunResult[]): V {
  const aborted = runs.flatMap((run) => run.aborted ?? []).find(({ assertionIndex }) => assertionIndex === index);
  if (aborted !== undefined) {
    const { assertion, text } = verdict;
    const place = { level: undefined, phaseIndex: undefined, reason: undefined };
    return { ...verdict, ...place, assertion, text, state: "fail", measured: aborted.measured, endedRun: true };
  }
  if (verdict.state !== "pass" || !runs.some(hasEndedEarly)) return verdict;
  return { ...verdict, state: "unresolved", reason: "the run ended early", needed: undefined };
}

function hasEndedEarly({ isInterrupted, error }: RunResult): boolean {
  return isInterrupted || error !== undefined;
}

/** Evaluates the checks of a plan's phases; empty when the load has none. */
export function verdictsOfPhases({ load }: Plan, levels: readonly LevelResult[]): PhaseVerdict[] {
  return judgePhases(loadModeOf(load).phases?.(load) ?? [], levels);
}

/** Returns the checks of the phases of each run, such as whether a soak test drifted. */
export function judgeChecks(plan: Plan, runs: readonly RunResult[]): PhaseVerdict[] {
  return runs.flatMap((run, index) =>
    verdictsOfPhases(plan, measuredLevels(run)).map((verdict) =>
      runs.length === 1 ? verdict : { ...verdict, text: `run ${index + 1}: ${verdict.text}` },
    ),
  );
}
