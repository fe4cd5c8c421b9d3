import { certaintyOf } from "../measure/intervals/certainty.ts";
import { metricOf } from "../measure/metrics/catalogue.ts";
import type { Counted } from "../measure/metrics/metric.ts";
import { formatMetric } from "../measure/metrics/metric-text.ts";
import { levelsOfPhase, type RunsVerdict, type Verdict } from "../measure/verdicts.ts";
import type { Plan } from "../plan/plan.ts";
import { countOf, formatCount, formatDurationNs, formatPct, msToNs } from "../plan/units.ts";
import { describeLevel } from "../registry/level-names.ts";
import { shownUnitOf } from "../registry/mix.ts";
import { measuredLevels } from "../result/judged-levels.ts";
import type { RunResult } from "../result/run-result.ts";
import { endsAfter, formatMetricValue } from "./model/values.ts";

/** Describes the values that an assertion measured: the same words in JSON, in the verdict and in every report. */

interface DescribedAssertion {
  /** `worst 31.2 ms at concurrency 8`, and the reason if it is unresolved. A single level is not named. */
  readonly measured: string;
  readonly limit: string;
}

/** Describes what an assertion was judged by. @param runs all of the plan */
export function describeAssertion(
  plan: Plan,
  verdict: Verdict | RunsVerdict,
  runs: readonly RunResult[],
): DescribedAssertion {
  const { assertion, measured, reason, endedRun } = verdict;
  const { metric } = assertion;
  const unit = shownUnitOf(plan);
  const limit = formatMetric(metric, assertion.limit, unit);
  const place = placeOf(plan, verdict, runs);
  if (measured === undefined) return { measured: `${reason ?? "nothing measured"}${place}`, limit };
  const format = (value: number): string => formatMetricValue(metric, value, unit, assertion.limit);
  const why = reason === undefined ? "" : `; ${reason}`;
  if (endedRun === true) {
    const time = formatDurationNs(msToNs(assertion.abortAfterMs ?? 0));
    return { measured: `${format(measured)} over the last ${time}, which ended the run`, limit };
  }
  if ("runCount" in verdict) {
    const { low, high, metCount, runCount } = verdict;
    const found = certaintyOf({ value: measured, low, high, isRatio: metricOf(metric).quantity === "ratio" });
    const range = found.isCertain ? endsAfter(found, format) : "";
    return {
      measured: `mean ${format(measured)}${range}${place}, kept in ${metCount} of ${countOf(runCount, "run")}${why}`,
      limit,
    };
  }
  const counts = assertion.where === undefined ? countsOf(verdict, runs) : undefined;
  if (counts === undefined)
    return { measured: `${place === "" ? "" : "worst "}${format(measured)}${place}${why}`, limit };
  const of = `${formatCount(counts.count)} of ${formatCount(counts.total)}`;
  return { measured: `${measured === 0 ? of : `${formatPct(measured)}${place} (${of})`}${why}`, limit };
}

/** Names the level that decided; empty if there is only one, and for the highest load of a search. */
function placeOf(plan: Plan, { level, phaseIndex, assertion }: Verdict, runs: readonly RunResult[]): string {
  const levels = levelsOfPhase(assertion, runs.flatMap(measuredLevels));
  const names = new Set(levels.map((one) => describeLevel(plan, one.level, one.phase?.index)));
  const isOnly = names.size <= 1 || levels.some(({ limits }) => limits !== undefined);
  return level === undefined || isOnly ? "" : ` at ${describeLevel(plan, level, phaseIndex)}`;
}

/** Counts the requests of a ratio: at the level that decided, or of all levels if there were none; undefined for other metrics. */
function countsOf(
  { assertion, level, phaseIndex, measured }: Verdict,
  [run, ...others]: readonly RunResult[],
): Counted | undefined {
  const { metric } = assertion;
  const { counts } = metricOf(metric);
  if (counts === undefined || run === undefined || others.length > 0 || run.findMax !== undefined) return undefined;
  const counted = levelsOfPhase(assertion, measuredLevels(run)).filter(
    (one) => measured === 0 || (one.level === level && (phaseIndex === undefined || one.phase?.index === phaseIndex)),
  );
  return counted
    .map((part) => counts(part, metric))
    .reduce((sum, { count, total }) => ({ count: sum.count + count, total: sum.total + total }), {
      count: 0,
      total: 0,
    });
}
