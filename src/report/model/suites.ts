import type { Plan } from "../../plan/plan.ts";
import { countOf } from "../../plan/units.ts";
import type { LevelJson, RunJson } from "../schema/report-schema.ts";
import { levelTable } from "./level-sections.ts";
import type { Case, Note, ReportModel, Suite } from "./report-model.ts";
import type { LevelRow, NamedRun, ReportView } from "./report-view.ts";
import { answerOf } from "./search-answer.ts";
import { formatCell } from "./values.ts";

/** Passed and failed cases of runs: checks, levels, responses. */

/** The parts of a run's model from which cases are made. */
type Judged = Pick<ReportModel, "name" | "checks" | "notes">;

/** Builds the suites: for a single run one, including its checks; for several runs one for the checks, followed by one for each run. */
export function suitesOf(view: ReportView, { name, checks, notes }: Judged): Suite[] {
  const { startedAt, durationSec } = view.json;
  const whole = [
    ...checks.map(
      ({ text, state, measured }): Case => ({ name: text, timeSec: 0, state, kind: "assertion", message: measured }),
    ),
    ...reasonCases(view),
  ];
  const isGood = whole.length > 0 && checks.every(({ state }) => state === "pass");
  const casesOf = (run: NamedRun): Case[] => [
    ...view.levels.filter((level) => level.run === run.name).map((level) => levelCase(notes, view, level)),
    ...searchCases(view.plan, run.json),
    ...responseCases(view.plan, run.json, isGood),
    ...runCases(run.json),
  ];
  const [only] = view.runs;
  if (view.runs.length === 1 && only !== undefined)
    return [{ name, startedAt, durationSec, cases: [...whole, ...casesOf(only)] }];
  const each = view.runs.map((run) => ({
    name: `${name}, ${run.name}`,
    startedAt: run.json.startedAt,
    durationSec: run.json.durationSec,
    cases: casesOf(run),
  }));
  return whole.length === 0 ? each : [{ name, startedAt, durationSec: 0, cases: whole }, ...each];
}

/** Reasons of a verdict that have separate cases: assertions, levels, the search, an early end. */
const WITH_CASES = ["assertion", "ended-early", "mlperf", "search", "unstable"];
/** Names of the cases of the other reasons: the statement that is not true. */
const REASON_NAMES: Readonly<Record<string, string>> = {
  "load-not-sent": "the load is sent",
  "only-failures": "requests succeed",
  precision: "the runs are as precise as asked for",
};

/** Returns the cases of the other reasons why runs did not pass, for example that all requests failed. */
function reasonCases({ json: { verdict } }: ReportView): Case[] {
  return verdict.reasons.flatMap(({ state, code, text }): Case[] => {
    if (WITH_CASES.includes(code)) return [];
    const name = REASON_NAMES[code] ?? code;
    return [{ name, timeSec: 0, state: state === "fail" ? "fail" : "unresolved", kind: code, message: text }];
  });
}

const OUTCOMES: Readonly<Record<LevelJson["outcome"], readonly [state: Case["state"], message: string]>> = {
  measured: ["pass", ""],
  unstable: ["unresolved", "not stable"],
  "over-limit": ["fail", "over the latency limit"],
  partial: ["unresolved", "ended early"],
};

/** Returns the case of a level: its numbers and its notes. */
function levelCase(notes: readonly Note[], view: ReportView, row: LevelRow): Case {
  const { name, json } = row;
  const { columns, rows } = levelTable(view, [row]);
  // The suite names the run.
  const numbers = columns.flatMap(({ key, title, quantity }, index) =>
    key === "run" ? [] : [`${title} ${formatCell(rows[0]?.[index] ?? {}, quantity)}`.trim()],
  );
  const about = notes.filter(({ levels }) => levels.includes(name));
  const [state, message] = OUTCOMES[json.outcome];
  return {
    name: `${name} is measured`,
    timeSec: json.durationSec,
    state,
    kind: json.outcome,
    message: state === "pass" ? "" : (about.find(({ code }) => code === "not-stable")?.text ?? message),
    output: [numbers.join(", "), ...about.map(({ text }) => text)],
  };
}

function searchCases(plan: Plan, { findMax }: RunJson): Case[] {
  if (findMax === undefined) return [];
  const { highest, isResolved } = findMax;
  const state = isResolved ? (highest === null ? "fail" : "pass") : "unresolved";
  return [{ name: "the highest load is found", timeSec: 0, state, kind: "find-max", message: answerOf(plan, findMax) }];
}

/**
 * Returns the case of the scenario's check of responses, with the first wrong ones. If the assertions hold, wrong responses are
 * accepted, because they are failed requests, which the assertions judge.
 */
function responseCases({ check }: Plan, { failures }: RunJson, isAccepted: boolean): Case[] {
  if (check === undefined) return [];
  const wrong = failures.filter(({ kind }) => kind === "check");
  const count = wrong.reduce((sum, failure) => sum + failure.count, 0);
  const message = count === 0 ? "" : `${countOf(count, "response is", "responses are")} wrong`;
  const details = wrong.flatMap(({ responses = [] }) =>
    responses.map(({ reason, response }) => `${reason}\n  ${response}`),
  );
  const state = count === 0 || isAccepted ? "pass" : "fail";
  return [{ name: "responses are right", timeSec: 0, state, kind: "check", message, details }];
}

/** Returns the case of an early end, because the run may have no level. */
function runCases({ isPartial, error, durationSec }: RunJson): Case[] {
  if (!isPartial) return [];
  const message = error === undefined ? "the run was interrupted" : error.message;
  const kind = error?.code ?? "interrupted";
  return [{ name: "the run ends as planned", timeSec: durationSec, state: "unresolved", kind, message }];
}
