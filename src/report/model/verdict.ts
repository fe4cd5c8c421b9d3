import type { Plan } from "../../plan/plan.ts";
import { formatCount, secToNs } from "../../plan/units.ts";
import { describeLevel } from "../../registry/load-modes.ts";
import type { RunJson } from "../schema/report-schema.ts";
import type { ModelVerdict } from "./report-model.ts";
import type { ReportView } from "./report-view.ts";
import { formatThreeDigits, formatTime, joinEnds } from "./values.ts";

/** Code of the note of a load that the client could not send, which decides the verdict. */
export const UNSENT_LOAD = "load-not-sent";

/** Returns how a report's runs ended. Where nothing is wrong, the name says all. */
export function verdictOf(view: ReportView): ModelVerdict {
  const { name, headline } = view.json.verdict;
  return { name, headline: name === "passed" || name === "measured" ? "" : headline, facts: factsOf(view) };
}

function factsOf({ json, runs, levels }: ReportView): string[] {
  const measured = levels.reduce((sum, { json: { requests, failed } }) => sum + requests + failed, 0);
  const sent = measured > 0 ? measured : runs.reduce((sum, { json: run }) => sum + run.requests.sent, 0);
  return [
    ...(runs.length > 1 ? [`${runs.length} runs`] : []),
    formatSeconds(json.durationSec),
    `${formatCount(sent)} ${sent === 1 ? "request" : "requests"}`,
  ];
}

function formatSeconds(seconds: number): string {
  return seconds >= 1 && seconds < 120 ? `${seconds.toFixed(1)} s` : formatTime(secToNs(seconds));
}

type SearchJson = NonNullable<RunJson["findMax"]>;

const FOUND = "highest load that keeps the limits";

/** Describes the answer of a search, over runs if there are several; undefined for other loads. */
export function describeAnswer(view: ReportView): string | undefined {
  const { plan, json, runs } = view;
  if ("runs" in json) return describeAnswers(view);
  const found = runs[0]?.json.findMax;
  return found && answerOf(plan, found);
}

/** Describes the answer of one search. */
export function answerOf(plan: Plan, { highest, isResolved }: SearchJson): string {
  if (highest !== null) return `${FOUND}: ${describeLevel(plan.load, highest)}`;
  return isResolved ? noLoadKeeps(plan) : `it is not known whether any load keeps ${limitsOf(plan)}`;
}

function noLoadKeeps(plan: Plan): string {
  return `no load keeps ${limitsOf(plan)}`;
}

function limitsOf({ limits }: Plan): string {
  return limits?.length === 1 ? "the limit" : "all limits";
}

function describeAnswers({ plan, json }: ReportView): string | undefined {
  if (!("runs" in json) || json.combination.findMax === undefined) return undefined;
  const { highest, runsWithoutLoad, unresolvedRuns } = json.combination.findMax;
  const parts = [
    ...(highest === undefined ? [] : [describeMean(plan, highest, json.runs.length)]),
    ...(runsWithoutLoad.length === 0 ? [] : [`${noLoadKeeps(plan)} in ${nameRuns(runsWithoutLoad)}`]),
    ...(unresolvedRuns.length === 0 ? [] : [`not certain in ${nameRuns(unresolvedRuns)}`]),
  ];
  return parts.length === 0 ? "no run ended as planned" : parts.join("; ");
}

function describeMean(
  { load }: Plan,
  { count, mean, low, high, deviation }: NonNullable<NonNullable<CombinedSearch>["highest"]>,
  runCount: number,
): string {
  const interval =
    low === null || high === null ? "" : ` (${joinEnds(formatThreeDigits(low), formatThreeDigits(high))})`;
  const of = count < runCount ? `${count} of ${runCount}` : `${count}`;
  const found = `${FOUND}: ${describeLevel(load, Number(mean.toPrecision(4)))}`;
  // Equal whole numbers have an interval without a length, which claims more than they show.
  if (deviation === 0) return `${found}, the same in ${of} runs`;
  return `${found}, the mean over ${of} ${of === "1" ? "run" : "runs"}${interval}`;
}

type CombinedSearch = Extract<ReportView["json"], { runs: unknown }>["combination"]["findMax"];

/** Names runs by their numbers: `runs 2 and 4`. */
function nameRuns(numbers: readonly number[]): string {
  const last = numbers.at(-1);
  return numbers.length === 1 ? `run ${last}` : `runs ${numbers.slice(0, -1).join(", ")} and ${last}`;
}
