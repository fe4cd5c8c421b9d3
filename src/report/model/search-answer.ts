import type { OverRuns } from "../../measure/intervals/over-runs.ts";
import type { Plan } from "../../plan/plan.ts";
import { countOf } from "../../plan/units.ts";
import { describeLevel } from "../../registry/level-names.ts";
import { formatThreeDigits, joinEnds } from "./values.ts";

/** The answer of a search for the highest load that keeps all limits, in one line. */

const FOUND = "highest load that keeps the limits";
/** The upper end of a search keeps the limits, so that a higher load may keep them too. */
const FOUND_AT_LEAST = "load that keeps the limits: at least";

/** The answer of one search. */
interface SearchAnswer {
  /** Absent or null: no load is known to keep the limits. */
  readonly highest?: number | null;
  /** The lowest load that breaks them. Absent or null: none is known to. */
  readonly next?: number | null;
  readonly isResolved: boolean;
}

/** Describes the answer of one search. */
export function answerOf(plan: Plan, { highest = null, next = null, isResolved }: SearchAnswer): string {
  if (highest !== null && next === null && isResolved) return `${FOUND_AT_LEAST} ${describeLevel(plan, highest)}`;
  if (highest !== null) return `${FOUND}: ${describeLevel(plan, highest)}`;
  return isResolved ? noLoadKeeps(plan) : `it is not known whether any load keeps ${limitsOf(plan)}`;
}

function noLoadKeeps(plan: Plan): string {
  return `no load keeps ${limitsOf(plan)}`;
}

function limitsOf({ limits }: Plan): string {
  return limits?.length === 1 ? "the limit" : "all limits";
}

/** The answers of several runs. */
interface AnswersOverRuns {
  /** Over the runs with a certain answer; absent without one. */
  readonly highest?: MeanLoad | undefined;
  /** Numbers of runs, from 1. */
  readonly runsWithoutLoad: readonly number[];
  readonly unresolvedRuns: readonly number[];
  /** Runs in which the upper end of the search keeps the limits. */
  readonly runsAtUpperEnd: readonly number[];
}

type MeanLoad = Pick<OverRuns, "count" | "mean" | "low" | "high" | "deviation">;

/** Describes the answers of several runs: the mean over those with a certain answer, and those without one. */
export function answerOverRuns(
  plan: Plan,
  { highest, runsWithoutLoad, unresolvedRuns, runsAtUpperEnd }: AnswersOverRuns,
  runCount: number,
): string {
  const parts = [
    ...(highest === undefined ? [] : [describeMean(plan, highest, runCount, runsAtUpperEnd.length > 0)]),
    ...(runsWithoutLoad.length === 0 ? [] : [`${noLoadKeeps(plan)} in ${nameRuns(runsWithoutLoad)}`]),
    ...(unresolvedRuns.length === 0 ? [] : [`not certain in ${nameRuns(unresolvedRuns)}`]),
  ];
  return parts.length === 0 ? "no run ended as planned" : parts.join("; ");
}

function describeMean(
  plan: Plan,
  { count, mean, low, high, deviation }: MeanLoad,
  runCount: number,
  isAtLeast: boolean,
): string {
  const interval =
    low === null || high === null ? "" : ` (${joinEnds(formatThreeDigits(low), formatThreeDigits(high))})`;
  const of = `${count < runCount ? `${count} of ` : ""}${countOf(Math.max(count, runCount), "run")}`;
  const found = `${isAtLeast ? FOUND_AT_LEAST : `${FOUND}:`} ${describeLevel(plan, Number(mean.toPrecision(4)))}`;
  // Equal whole numbers have an interval without a length, which claims more than they show.
  if (deviation === 0) return `${found}, the same in ${of}`;
  return `${found}, the mean over ${of}${interval}`;
}

/** Names runs by their numbers: `runs 2 and 4`. */
function nameRuns(numbers: readonly number[]): string {
  const last = numbers.at(-1);
  return numbers.length === 1 ? `run ${last}` : `runs ${numbers.slice(0, -1).join(", ")} and ${last}`;
}
