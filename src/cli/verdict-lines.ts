import type { Plan } from "../plan/plan.ts";
import { toRepeatedJson, toReportJson } from "../report/json/report-json.ts";
import { buildRunModel } from "../report/model/build-model.ts";
import { CHECK_WORDS } from "../report/text/render-text.ts";
import type { ExecutedPlan } from "./execute.ts";

/** Lines that `--quiet` still prints: the checks that did not pass, and unstable levels; without any, the verdict's reason. */

/** Returns the lines about a run that did not pass; empty for one that passed, or whose error is printed anyway. */
export function describeVerdict(plan: Plan, { result, repeated }: ExecutedPlan): string[] {
  const json = repeated === undefined ? toReportJson(plan, result) : toRepeatedJson(plan, repeated);
  const { verdict, checks, notes } = buildRunModel(plan, json);
  if (verdict.name !== "failed" && verdict.name !== "unresolved") return [];
  const missed = checks
    .filter(({ state }) => state !== "pass")
    .map(({ state, text, measured }) => `${CHECK_WORDS[state]} ${text}: ${measured}`);
  const wrong = notes.filter(({ severity }) => severity === "wrong").map(({ text }) => text);
  const lines = [...missed, ...wrong];
  return lines.length === 0 ? [verdict.headline] : lines;
}
