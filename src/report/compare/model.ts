import { entryNamed } from "../../measure/metrics/metric-names.ts";
import type { VerdictState } from "../../measure/verdict-state.ts";
import { countOf } from "../../plan/units.ts";
import { firstScreenMetrics } from "../model/level-columns.ts";
import type { Case, Cell, Check, Column, ModelTable, Note, ReportModel, Section } from "../model/report-model.ts";
import { markedIf } from "../model/tables.ts";
import type { Comparison, LevelComparison, MetricComparison } from "./comparison.ts";
import {
  CONFIDENCE_NOTE,
  describeNeeds,
  describeRuns,
  describeSide,
  describeTooFewRuns,
  formatChange,
  formatInterval,
  formatValue,
  hasVerdicts,
  measuredOfLimit,
  NOTHING_SHARED,
  namedMetrics,
  nameVerdict,
  placedMetrics,
  shownMetrics,
} from "./comparison-text.ts";
import { describeNotCompared, listSome } from "./file-notes.ts";
import type { ChangeLimitState, ChangeLimitVerdict, ComparedSides } from "./limits.ts";
import { levelChanges, runCurves } from "./run-curves.ts";
import { judgeComparison, judgeStrictly, type StrictMetric } from "./verdict.ts";

/** The model of comparisons, from which all their reports are made. */

/** Builds the model of comparisons of several candidates with one base. @param isStrict whether an unresolved limit fails the command */
export function buildComparisonModel(sides: readonly ComparedSides[], isStrict: boolean): ReportModel {
  const { name, headline } = judgeComparison(sides, isStrict);
  const [first] = sides;
  const base = first?.comparison.base ?? { name: "", runs: [] };
  const runs = sides.map(({ comparison: { next } }) => next.runs.length);
  const isSeveral = sides.length > 1;
  const title = `${sides.map(({ comparison: { next } }) => next.name).join(", ")} against ${base.name}`;
  const sections = sides.map((side, index) => toSection(side, index, isSeveral));
  const whole: Case = {
    ...{ name: "runs are compared", timeSec: 0, state: "pass", kind: name },
    ...{
      message: `${name.toUpperCase()}  ${headline}`,
      output: sections.flatMap(({ title: candidate, tables }) => [
        ...(candidate === "" ? [] : [candidate]),
        ...tables.flatMap(toLines),
      ]),
    },
  };
  return {
    name: title,
    subject: "",
    verdict: { name, headline, facts: [`${runs.join(" and ")} against ${countOf(base.runs.length, "run")}`] },
    setup: [],
    checks: sides.flatMap(({ comparison: { next }, limits }) =>
      joinOpen(limits).map((same) => toCheck(same, isSeveral ? `${next.name}: ` : "")),
    ),
    notes: notesOfSides(sides),
    sections: [...sections, ...sides.map(toCurves)],
    hasStillCharts: true,
    suites: [
      {
        ...{ name: title, startedAt: new Date().toISOString(), durationSec: 0 },
        cases: [...sides.flatMap((side) => toCases(side, isSeveral, isStrict)), whole],
      },
    ],
    origin: "",
  };
}

const STATES: Readonly<Record<ChangeLimitState, VerdictState>> = {
  broken: "fail",
  kept: "pass",
  unresolved: "unresolved",
  undecidable: "unresolved",
};

/** Returns the statement that was shown: `p99 > +5%` for a broken limit, and `p99 not > +5%` for a kept one. */
function textOf({ limit, state }: ChangeLimitVerdict): string {
  return state === "kept" ? limit.text.replace(/[<>]/, "not $&") : limit.text;
}

type SameVerdicts = [ChangeLimitVerdict, ...ChangeLimitVerdict[]];

/** Joins the levels at which a limit is not decided. */
function joinOpen(limits: readonly ChangeLimitVerdict[]): SameVerdicts[] {
  const keyOf = (verdict: ChangeLimitVerdict): unknown =>
    STATES[verdict.state] === "unresolved" ? `${verdict.limit.text} ${verdict.reason}` : verdict;
  return [...Map.groupBy(limits, keyOf).values()] as SameVerdicts[];
}

function toCheck(same: SameVerdicts, side: string): Check {
  const [verdict] = same;
  return { state: STATES[verdict.state], text: `${side}${textOf(verdict)}`, measured: measuredOfLimit(...same) };
}

/** State of the case of a strict comparison in which nothing can be compared. */
const UNSHARED = { state: "unresolved", kind: "inconclusive", message: NOTHING_SHARED } as const;

/** Returns the cases of limits. An unresolved limit passes unless the command is strict, as for the exit code. */
function toCases(side: ComparedSides, isSeveral: boolean, isStrict: boolean): Case[] {
  const { comparison, limits } = side;
  if (isStrict && limits.length === 0) {
    const metrics = judgeStrictly(side);
    if (metrics.length > 0) return metrics.map((one) => toMetricCase(one, side, isSeveral));
    return [{ name: `metrics of ${comparison.next.name}`, timeSec: 0, ...UNSHARED }];
  }
  return limits.map((verdict) => {
    const { state, measured } = toCheck([verdict], "");
    const name = `${isSeveral ? `${comparison.next.name}: ` : ""}${verdict.limit.text}`;
    const head = { name, timeSec: 0, kind: verdict.state };
    if (verdict.state !== "unresolved") return { ...head, state, message: measured };
    return { ...head, state: isStrict ? state : "pass", message: `unresolved: ${measured}` };
  });
}

/** Returns the case of a metric of a strict comparison without limits. */
function toMetricCase({ level, metric, state }: StrictMetric, { comparison }: ComparedSides, isSeveral: boolean): Case {
  const needed =
    metric.runsNeeded === undefined ? "" : `; ${describeRuns(metric.runsNeeded)} runs on each side would decide`;
  const few = describeTooFewRuns(comparison, true);
  return {
    name: `${isSeveral ? `${comparison.next.name}: ` : ""}${metric.metric.label} at ${level}`,
    ...{ timeSec: 0, state, kind: metric.verdict },
    message: `${nameVerdict(metric.verdict)}: ${formatChange(metric.change)}${needed}${few === undefined ? "" : `; ${few}`}`,
  };
}

function toLines({ title, rows }: ModelTable): string[] {
  return [title, ...rows.map((row) => row.map(({ value = "" }) => value).join("  "))];
}

function toCurves({ comparison }: ComparedSides, index: number): Section {
  const title = "All runs over each other";
  return { id: `runs-${index + 1}`, title, isSummary: false, tables: [], charts: runCurves(comparison) };
}

function toSection({ comparison, limits, isAll }: ComparedSides, index: number, isSeveral: boolean): Section {
  const named = namedMetrics(limits);
  const isJudged = hasVerdicts(comparison);
  const shown = comparison.levels.map((level) => ({ level, rows: chooseMetrics(level, named, { isAll, isJudged }) }));
  const tables = shown
    .filter(({ rows }) => rows.length > 0)
    .map(({ level, rows }) => toTable(level.label, rows, isJudged));
  const title = isSeveral ? describeSide(comparison.next) : "";
  const charts = shown.flatMap(({ level, rows }) =>
    levelChanges(level, isJudged ? shownMetrics(level, named, isAll) : rows, shown.length === 1),
  );
  return { id: `changes-${index + 1}`, title, isSummary: true, tables, charts };
}

/**
 * Chooses the rows of a level: limited metrics, changed metrics, and metrics without a result; without verdicts, those of a run's
 * first screen. If that is empty, all usual metrics, so that the measured differences are visible.
 */
function chooseMetrics(
  level: LevelComparison,
  named: ReadonlySet<string>,
  { isAll, isJudged }: { readonly isAll: boolean; readonly isJudged: boolean },
): readonly MetricComparison[] {
  const usual = shownMetrics(level, named, isAll);
  if (isAll) return usual;
  const hasTokenTimes = level.metrics.some(({ metric }) => entryNamed(metric.name)?.needs === "streams");
  const first = firstScreenMetrics(hasTokenTimes);
  const isNews = ({ metric: { name }, verdict }: MetricComparison): boolean =>
    isJudged ? verdict !== "no-difference" : first.has(name);
  const chosen = usual.filter((one) => named.has(one.metric.name) || isNews(one));
  return chosen.length === 0 ? usual : chosen;
}

/**
 * Columns contain values with different units, because each row is a different metric: cells are texts. The most important columns
 * are on the left, where a narrow screen shows them.
 */
const COLUMNS: readonly Column[] = (
  [
    { key: "metric", quantity: "text", dropOrder: 0 },
    { key: "verdict", quantity: "text", dropOrder: 0 },
    { key: "change", quantity: "mixed", dropOrder: 0 },
    { key: "95 % interval", quantity: "mixed", dropOrder: 1, below: "change" },
    { key: "base", quantity: "mixed", dropOrder: 0 },
    { key: "new", quantity: "mixed", dropOrder: 0 },
  ] as const
).map((column) => ({ ...column, title: column.key }));

/** Without verdicts there is no interval either. */
const JUDGED_KEYS: ReadonlySet<string> = new Set(["verdict", "95 % interval"]);

function toTable(label: string, metrics: readonly MetricComparison[], isJudged: boolean): ModelTable {
  const isShown = (_: unknown, index: number): boolean => isJudged || !JUDGED_KEYS.has(COLUMNS[index]?.key ?? "");
  const rows = metrics.map((metric) => toRow(metric).filter(isShown));
  return { title: label, columns: COLUMNS.filter(isShown), rows };
}

function toRow({ metric, base, next, change, verdict }: MetricComparison): Cell[] {
  return [
    { value: metric.label },
    { value: nameVerdict(verdict), ...(verdict === "worse" || verdict === "better" ? { mark: verdict } : {}) },
    { value: formatChange(change) },
    // There is no room for "points": the unit is that of the change beside it.
    { value: formatInterval(change).replace(/ points$/, "") || "-" },
    ...[base, next].map(({ mean, isUncertain }): Cell => markedIf(isUncertain, "uncertain", formatValue(metric, mean))),
  ];
}

/** Returns the notes about several candidates. */
export function notesOfSides(sides: readonly ComparedSides[]): Note[] {
  return mergeNotes(sides.flatMap(notesOf));
}

/** Returns the reasons why a comparison may be unreliable, then the data that it leaves out. */
function notesOf(side: ComparedSides): Note[] {
  const { comparison, limits } = side;
  const few = describeTooFewRuns(comparison);
  const { differences, warnings, acceptsWithinRuns } = comparison;
  // The note on a limit contains the number of runs for that limit, which differs from this one.
  const limited = new Set(limits.map(({ limit }) => limit.metric.name));
  const needs = describeNeeds(placedMetrics(side).filter(({ metric: { metric } }) => !limited.has(metric.name)));
  return [
    ...(few === undefined ? [] : [note("too-few-runs", "caution", few)]),
    ...(differences.length === 0 ? [] : [note("plans-differ", "caution", describeDifferences(comparison))]),
    ...warnings.map(({ code, text }) =>
      note(code, code === "no-intervals" && (few === undefined || !acceptsWithinRuns) ? "detail" : "caution", text),
    ),
    ...describeOneSided(comparison),
    ...(needs === undefined ? [] : [note("runs-needed", "detail", needs.text, needs.levels)]),
    ...describeNotCompared(comparison).map((text) => note("not-compared", "detail", text)),
    ...(few === undefined ? [note("confidence", "detail", CONFIDENCE_NOTE)] : []),
  ];
}

function note(code: string, severity: Note["severity"], text: string, levels: string[] = []): Note {
  // A note of a run is a sentence, or begins with a name, as others may with that of a file.
  const isPhrase = code !== "note-of-run" && /^[a-z]+ /.test(text);
  const start = isPhrase ? text.charAt(0).toUpperCase() : text.charAt(0);
  return { code, severity, levels, text: `${start}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}` };
}

/** Merges equal notes of several candidates. The most severe notes are first. */
function mergeNotes(notes: readonly Note[]): Note[] {
  const merged = [...new Map(notes.map((one) => [`${one.code} ${one.text}`, one])).values()];
  return [
    ...merged.filter(({ severity }) => severity !== "detail"),
    ...merged.filter(({ severity }) => severity === "detail"),
  ];
}

const MOST_DIFFERENCES = 8;

function describeDifferences({ differences }: Comparison): string {
  const shown = differences.slice(0, MOST_DIFFERENCES).map(({ path, base, next }) => `${path} ${base} → ${next}`);
  const more = differences.length - shown.length;
  return `the plans differ, so the changes can be those of the plans: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Describes levels and metrics that only one side has. */
function describeOneSided({ base, next, levels, onlyInBase, onlyInNew }: Comparison): Note[] {
  const sides = [
    [base.name, onlyInBase, (level: LevelComparison) => level.onlyInBase],
    [next.name, onlyInNew, (level: LevelComparison) => level.onlyInNew],
  ] as const;
  return sides.flatMap(([name, labels, metricsOf]) => {
    const metrics = [...new Set(levels.flatMap(metricsOf).map((metric) => metric.replace(/\.(avg|p[\d.]+)$/, "")))];
    return [
      ...(labels.length === 0 ? [] : [note("levels-of-one-side", "caution", `only in ${name}: ${listSome(labels)}`)]),
      ...(metrics.length === 0
        ? []
        : [note("metrics-of-one-side", "detail", `metrics only in ${name}: ${listSome(metrics)}`)]),
    ];
  });
}
