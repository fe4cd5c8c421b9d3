import type { Plan } from "../../plan/plan.ts";
import { countOf } from "../../plan/units.ts";
import { describeLevel } from "../../registry/level-names.ts";
import type { FindMaxResult } from "../../result/run-result.ts";
import type { OverJson } from "../schema/metrics.ts";
import type { FindMaxJson } from "../schema/report-schema.ts";
import type { CombinationJson } from "../schema/runs.ts";
import { endsAfter, formatThreeDigits } from "./values.ts";

/** Describes in one line the result of a search for the highest load that keeps all limits. */

const FOUND = "highest load that keeps the limits";
/** For a search whose upper end keeps the limits, so that a higher load may keep them too. */
const FOUND_AT_LEAST = "load that keeps the limits: at least";

/** Describes the result of one search. */
export function answerOf(plan: Plan, { highest = null, next = null, isResolved }: FindMaxResult | FindMaxJson): string {
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

/** The results of several runs, with the numbers of the runs from 1. */
type AnswersOverRuns = Omit<NonNullable<CombinationJson["findMax"]>, "unit" | "atHighest">;

/** Describes the results of several runs: the mean over runs with a certain result, and the runs without one. */
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
  { count, mean, deviation, ...ends }: OverJson,
  runCount: number,
  isAtLeast: boolean,
): string {
  const of = `${count < runCount ? `${count} of ` : ""}${countOf(Math.max(count, runCount), "run")}`;
  const found = `${isAtLeast ? FOUND_AT_LEAST : `${FOUND}:`} ${describeLevel(plan, Number(mean.toPrecision(4)))}`;
  // The interval of equal whole numbers has length 0, which would claim too much precision.
  if (deviation === 0) return `${found}, the same in ${of}`;
  return `${found}, the mean over ${of}${endsAfter(ends, formatThreeDigits)}`;
}

/** Names runs by their numbers: `runs 2 and 4`. */
function nameRuns(numbers: readonly number[]): string {
  const last = numbers.at(-1);
  return numbers.length === 1 ? `run ${last}` : `runs ${numbers.slice(0, -1).join(", ")} and ${last}`;
}
