import type { Plan } from "../plan/plan.ts";
import { toRepeatedJson, toReportJson } from "../report/json/report-json.ts";
import { VERDICT_WORDS } from "../report/rampart/verdicts-table.ts";
import { summarizeRuns } from "../report/summary.ts";
import type { ExecutedPlan } from "./execute.ts";

/** What `--quiet` still prints, so that a failed gate says why: the verdict, the assertions that do not pass, and what was not stable. */

/** Returns the lines about a run that did not pass; none for one that passed, or whose error is printed anyway. */
export function describeVerdict(plan: Plan, { result, repeated }: ExecutedPlan): string[] {
  const json = repeated === undefined ? toReportJson(plan, result) : toRepeatedJson(plan, repeated);
  const runs = repeated?.runs ?? [result];
  const { verdict, headline, assertions, warnings } = summarizeRuns(plan, runs, json);
  if (verdict !== "failed" && verdict !== "unresolved") return [];
  const missed = assertions
    .filter(({ state }) => state !== "pass")
    .map(({ state, text, measured }) => `${VERDICT_WORDS[state]} ${text}: ${measured}`);
  const unstable = warnings
    .filter(({ text }) => text.startsWith("not stable"))
    .map(({ level, text }) => (level === undefined ? text : `${level}: ${text}`));
  // The headline only lists the levels that the lines after it explain.
  return [...(unstable.length > 0 && headline.startsWith("not stable") ? [] : [headline]), ...missed, ...unstable];
}
