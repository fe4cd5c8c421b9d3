import { countOf } from "../../plan/units.ts";
import { EXIT, gravestOf, wordOfExit } from "../../result/exit-codes.ts";
import type { Check, ReportModel, Section, Suite } from "../model/report-model.ts";
import { column, makeTable, markedIf, summary } from "../model/tables.ts";
import { formatSeconds } from "../model/values.ts";
import { joinNotes } from "../notes/join-notes.ts";
import { type ReasonJson, VERDICT_NAMES, worstFirst } from "../schema/report-schema.ts";
import { labelsOf, SCENARIOS_VERSION, type ScenarioJson, type ScenariosJson } from "../schema/scenarios.ts";
import { suiteOfMissing } from "./sweep-model.ts";

/** The combined report of several scenarios: a row for each, followed by the content of each report. */

/** Returns the JSON of scenarios. One without a report makes the verdict `partial`, unless another one failed. */
export function toScenariosJson(
  scenarios: readonly ScenarioJson[],
  time: Pick<ScenariosJson, "startedAt" | "durationSec">,
): ScenariosJson {
  const names = scenarios.map(({ report }) => report?.verdict.name ?? "partial");
  const codes = scenarios.flatMap(({ exitCode }) => exitCode ?? []);
  const passed = codes.filter((code) => code === EXIT.passed).length;
  return {
    version: SCENARIOS_VERSION,
    kind: "scenarios",
    verdict: {
      name: VERDICT_NAMES.find((one) => names.includes(one)) ?? "partial",
      headline: `${passed} of ${countOf(scenarios.length, "scenario")} passed`,
      reasons: reasonsOf(scenarios),
      exitCode: gravestOf(codes),
    },
    ...time,
    scenarios: [...scenarios],
  };
}

/** Returns the reasons why scenarios did not pass, most severe first, each with its scenario. */
function reasonsOf(scenarios: readonly ScenarioJson[]): ReasonJson[] {
  const labels = labelsOf(scenarios);
  const all = scenarios.flatMap(({ report, reason = "" }, at): readonly ReasonJson[] => {
    const reasons: readonly ReasonJson[] =
      report === undefined ? [{ state: "partial", code: "not-measured", text: reason }] : report.verdict.reasons;
    return reasons.map((one) => ({ ...one, text: `${labels[at]}: ${one.text}` }));
  });
  return worstFirst(all);
}

interface Row extends ScenarioJson {
  /** Unique among the scenarios. */
  readonly label: string;
  /** Absent: it has no report. */
  readonly model: ReportModel | undefined;
}

/** Verdicts that are not failures. */
const OPEN = ["unresolved", "partial", wordOfExit(undefined)];

const COLUMNS = [
  column<Row>("scenario", "scenario", "text", 0, ({ label }) => label),
  column<Row>("verdict", "verdict", "text", 0, ({ exitCode, model }) => {
    const name = model?.verdict.name ?? wordOfExit(exitCode).toLowerCase();
    return markedIf(name !== "passed" && name !== "measured", OPEN.includes(name) ? "unresolved" : "failed", name);
  }),
  column<Row>("measured", "measured", "text", 2, ({ model }) => model?.verdict.facts.join(", ")),
  column<Row>("why", "why", "text", 1, ({ model, reason }) => model?.verdict.headline ?? reason),
];

/** Builds the model of several scenarios. @param models of their reports, in the same order; undefined: no report */
export function buildScenariosModel(
  { verdict, startedAt, durationSec, scenarios }: ScenariosJson,
  models: readonly (ReportModel | undefined)[],
): ReportModel {
  const labels = labelsOf(scenarios);
  const rows = scenarios.map((one, at): Row => ({ ...one, label: labels[at] ?? "", model: models[at] }));
  const perModel = <T>(use: (label: string, model: ReportModel) => readonly T[]): T[] =>
    rows.flatMap(({ label, model }) => (model === undefined ? [] : use(label, model)));
  const all: Section = {
    ...{ id: "scenarios", title: "", isSummary: true, charts: [] },
    tables: [makeTable("", COLUMNS, rows)],
  };
  const notes = perModel((label, model) => model.notes.map((note) => ({ at: label, note })));
  return {
    name: countOf(scenarios.length, "scenario"),
    subject: "",
    verdict: { name: verdict.name, headline: verdict.headline, facts: [formatSeconds(durationSec)] },
    setup: [],
    checks: [],
    notes: joinNotes(notes, scenarios.length, "scenarios"),
    sections: [all, ...perModel(sectionsOf)],
    suites: rows.flatMap((row) => suitesOf(row, startedAt)),
    origin: startedAt,
  };
}

const CHECK_COLUMNS = [
  column<Check>("state", "", "text", 0, ({ state }) =>
    markedIf(state !== "pass", state === "fail" ? "failed" : "unresolved", state),
  ),
  column<Check>("check", "check", "text", 0, ({ text }) => text),
  column<Check>("measured", "measured", "text", 0, ({ measured }) => measured),
];

/** Returns the sections of a scenario, with its name; the first one contains the subject, the settings and the checks. */
function sectionsOf(label: string, { subject, setup, checks, sections }: ReportModel): Section[] {
  const about = [subject, ...setup].filter((line) => line !== "");
  const checked = checks.length === 0 ? [] : [makeTable("", CHECK_COLUMNS, checks)];
  const [first = summary("checks"), ...rest] = sections;
  const whole = { ...first, lines: [...about, ...(first.lines ?? [])], tables: [...checked, ...first.tables] };
  return [whole, ...rest].map((section) => ({
    ...section,
    id: `${label.replace(/[^\w.-]+/g, "-")}-${section.id}`,
    title: section.title === "" ? label : `${label}: ${section.title}`,
  }));
}

/** Returns the suites of a scenario; without a report, a suite with the reason. */
function suitesOf({ label, name, model, reason = "" }: Row, startedAt: string): readonly Suite[] {
  if (model !== undefined)
    return model.suites.map((suite) => {
      const rest = suite.name.startsWith(name) ? suite.name.slice(name.length) : `: ${suite.name}`;
      return { ...suite, name: `${label}${rest}` };
    });
  return [suiteOfMissing(label, reason, { startedAt })];
}
