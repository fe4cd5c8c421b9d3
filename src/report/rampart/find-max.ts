import type { LimitVerdict } from "../../measure/limits/judge-limits.ts";
import { formatMetric } from "../../measure/metrics/metric-text.ts";
import { judge } from "../../measure/verdicts.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount } from "../../plan/units.ts";
import { describeLevel } from "../../registry/load-modes.ts";
import type { RepeatedResult } from "../../result/repeated-result.ts";
import type { FindMaxResult, LevelResult, RunResult } from "../../result/run-result.ts";
import { type HighestOverRuns, highestOverRuns } from "../json/over-runs.ts";
import { formatRange } from "./confidence-notes.ts";

/** A search for the highest load that keeps all limits. */

const FOUND = "highest load that keeps the limits";

/** Formats the answer in one line. */
export function answerOf(plan: Plan, { highest, isResolved }: FindMaxResult): string {
  if (highest !== undefined) return `${FOUND}: ${describeLevel(plan.load, highest)}`;
  return isResolved ? noLoadKeeps(plan) : `it is not known whether any load keeps ${limitsOf(plan)}`;
}

function noLoadKeeps(plan: Plan): string {
  return `no load keeps ${limitsOf(plan)}`;
}

function limitsOf({ limits }: Plan): string {
  return limits?.length === 1 ? "the limit" : "all limits";
}

/** Formats the answers of several runs in one line: the mean over the runs with a certain answer, and the runs without one. Undefined for other loads. */
export function answerOverRuns(plan: Plan, repeated: RepeatedResult): string | undefined {
  const found = highestOverRuns(repeated);
  if (found === undefined) return undefined;
  const { unresolvedRuns, runsWithoutLoad } = found;
  const parts = [
    ...meanAnswer(plan, found),
    ...(runsWithoutLoad.length === 0 ? [] : [`${noLoadKeeps(plan)} in ${nameRuns(runsWithoutLoad)}`]),
    ...(unresolvedRuns.length === 0 ? [] : [`not certain in ${nameRuns(unresolvedRuns)}`]),
  ];
  return parts.length === 0 ? "no run ended as planned" : parts.join("; ");
}

function meanAnswer({ load }: Plan, { highest, byRun }: HighestOverRuns): string[] {
  if (highest === undefined) return [];
  const { count, mean, low, high, deviation } = highest;
  const format = (value: number): string => formatCount(Number(value.toPrecision(4)));
  const interval = low === null || high === null ? "" : ` (95 % confidence: ${formatRange(format(low), format(high))})`;
  const of = count < byRun.length ? `${count} of ${byRun.length}` : `${count}`;
  const found = `${FOUND}: ${describeLevel(load, Number(mean.toPrecision(4)))}`;
  // Equal whole numbers have an interval without a length, which claims more than they show.
  if (deviation === 0) return [`${found}, the same in ${of} runs`];
  return [`${found}, the mean over ${of} ${of === "1" ? "run" : "runs"}${interval}`];
}

/** Names runs by their numbers: `runs 2 and 4`. */
function nameRuns(numbers: readonly number[]): string {
  const last = numbers.at(-1);
  return numbers.length === 1 ? `run ${last}` : `runs ${numbers.slice(0, -1).join(", ")} and ${last}`;
}

/** Formats the answer and what stands behind it. @param unit of throughput */
export function formatFindMax(plan: Plan, { findMax, levels, error }: RunResult, unit: string): string {
  const { highest, next, isResolved } = findMax as FindMaxResult;
  const resultOf = (level: number | undefined): LevelResult | undefined =>
    levels.find((result) => result.level === level);
  const lines = [answerOf(plan, findMax as FindMaxResult)];
  if (highest !== undefined) lines.push(...explain(plan, resultOf(highest), unit));
  const above = resultOf(next);
  if (above === undefined) {
    if (highest !== undefined && isResolved) lines.push("it is the highest load of the search");
  } else {
    const broken = plan.limits?.length === 1 ? "breaks the limit" : "breaks a limit";
    const word = above.limits?.state === "broken" ? broken : "could not be decided within the longest time of a point";
    lines.push(`${describeLevel(plan.load, above.level)} ${word}`, ...explain(plan, above, unit));
  }
  if (!isResolved) {
    const doubt = highest === undefined ? "the lowest load may keep the limits" : "the highest load may be higher";
    const cause = error?.code === "host-limit" ? error.message : "measure each point longer (atMost)";
    lines.push(`UNRESOLVED: ${doubt}; ${cause}`);
  }
  return lines.join("\n");
}

function explain({ target }: Plan, level: LevelResult | undefined, unit: string): string[] {
  if (level?.limits === undefined) return [];
  const { verdicts, reason } = level.limits;
  const lines = verdicts.map((verdict) => `  ${explainVerdict(verdict, target.batchSize, unit)}`);
  return reason === undefined ? lines : [...lines, `  ${reason}`];
}

function explainVerdict({ limit, estimate, state, aboveRatio }: LimitVerdict, batchSize: number, unit: string): string {
  const { text } = judge(limit, [], batchSize, unit);
  if (estimate === undefined) return `${text}: no value`;
  const format = (value: number): string => formatMetric(limit.metric, value, unit);
  const { value, low, high, effectiveCount = Number.POSITIVE_INFINITY, neededEffectiveCount = 0 } = estimate;
  const isFew = effectiveCount < neededEffectiveCount;
  const ends = isFew
    ? ` (${formatCount(Math.floor(effectiveCount))} independent samples, ${formatCount(neededEffectiveCount)} needed)`
    : low === high
      ? ""
      : ` (95 % confidence: ${low === null ? "no lower bound" : format(low)} to ${high === null ? "no upper bound" : format(high)})`;
  const above =
    aboveRatio === undefined || state !== "broken"
      ? ""
      : `, ${Number((100 * aboveRatio).toPrecision(3))} % of requests are above the limit`;
  return `${text}: ${format(value)}${ends}${above}, ${state}`;
}
