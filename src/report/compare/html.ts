import { formatPicture } from "../html/charts.ts";
import { formatReportPage } from "../html/report-page.ts";
import type { Cell, CellMark, Check, ModelTable, ReportModel, Section, VerdictName } from "../model/report-model.ts";
import type { SvgPainter } from "../plots/chart-library.ts";
import type { LevelComparison, MetricComparison } from "./comparison.ts";
import {
  COMPARISON_COLUMNS,
  type ComparedSides,
  comparisonCells,
  describeDifferences,
  describeRest,
  describeWarnings,
} from "./console.ts";
import type { LimitVerdict } from "./limits.ts";
import { levelChanges, runCurves } from "./run-curves.ts";
import {
  CONFIDENCE_NOTE,
  describeLimitVerdict,
  describeNeeds,
  describeSide,
  describeTooFewRuns,
  shownMetrics,
  summarizeVerdicts,
} from "./words.ts";

/** Formats comparisons as one HTML page that needs no script, no other file and no network. @param paint draws charts without a background */
export function formatHtml(sides: readonly ComparedSides[], paint: SvgPainter): string {
  return formatReportPage(toComparisonModel(sides), {
    library: "",
    footer: "",
    draw: (plot) => formatPicture(plot, paint),
  });
}

/** Makes the model of comparisons of several candidates with one base. */
function toComparisonModel(sides: readonly ComparedSides[]): ReportModel {
  const limits = sides.flatMap((side) => side.limits);
  const named = sides.map(({ comparison: { base, next } }) => `${describeSide(next)} against ${describeSide(base)}`);
  const counts = sides.map((side) => summarizeVerdicts(shownLevels(side).flatMap(({ metrics }) => metrics)));
  const headline =
    sides.length === 1 ? counts : counts.map((text, index) => `${sides[index]?.comparison.next.name}: ${text}`);
  return {
    name: "Comparison",
    subject: named.join("; "),
    verdict: { name: verdictOf(limits), headline: headline.join("; "), facts: [] },
    setup: [],
    checks: limits.map(toCheck),
    notes: [],
    sections: sides.flatMap((side, index) => toSections(side, index, sides.length > 1)),
  };
}

function verdictOf(limits: readonly LimitVerdict[]): VerdictName {
  if (limits.length === 0) return "measured";
  if (limits.some(({ state }) => state === "broken")) return "failed";
  return limits.every(({ state }) => state === "kept") ? "passed" : "unresolved";
}

function toCheck(verdict: LimitVerdict): Check {
  const { state, limit } = verdict;
  const checked = { broken: "fail", kept: "pass", unresolved: "unresolved", undecidable: "unresolved" } as const;
  const measured = describeLimitVerdict(verdict).slice(limit.text.length + 2);
  return { state: checked[state], text: limit.text, measured };
}

interface ShownLevel {
  readonly level: LevelComparison;
  readonly metrics: readonly MetricComparison[];
}

function shownLevels({ comparison, limits, isAll }: ComparedSides): ShownLevel[] {
  const named = new Set(limits.map(({ limit }) => limit.metric.name));
  return comparison.levels
    .map((level) => ({ level, metrics: shownMetrics(level, named, isAll) }))
    .filter(({ metrics }) => metrics.length > 0);
}

/** The verdict is next to the metric, so that a phone shows it too. */
const COLUMNS = ["metric", "verdict", "change", "95 % interval", "base", "new"] as const;

function toSections(side: ComparedSides, index: number, hasOthers: boolean): Section[] {
  const { comparison } = side;
  const levels = shownLevels(side);
  const few = describeTooFewRuns(comparison) === undefined ? [CONFIDENCE_NOTE] : [];
  const [title, ...differences] = describeDifferences(comparison);
  const plans = title === undefined ? [] : [title, ...differences.map((one) => one.trim())];
  const needs = levels.flatMap(({ level, metrics }) => describeNeeds(metrics).map((text) => `${level.label}: ${text}`));
  const name = hasOthers ? describeSide(comparison.next) : "";
  return [
    {
      id: `changes-${index + 1}`,
      title: name,
      isSummary: true,
      lines: describeWarnings(comparison),
      charts: levels.flatMap(({ level, metrics }) => levelChanges(level, metrics)),
      tables: levels.map(({ level, metrics }) => toTable(level.label, metrics)),
    },
    {
      id: `runs-${index + 1}`,
      title: "All runs over each other",
      isSummary: false,
      tables: [],
      charts: runCurves(comparison),
    },
    {
      id: `about-${index + 1}`,
      title: "About these numbers",
      isSummary: false,
      tables: [],
      charts: [],
      lines: [...plans, ...needs, ...describeRest(comparison), ...few],
    },
  ];
}

function toTable(title: string, metrics: readonly MetricComparison[]): ModelTable {
  return {
    title,
    columns: COLUMNS.map((name, at) => ({ key: name, title: name, quantity: "text", dropOrder: at })),
    rows: metrics.map((metric) => {
      const cells = comparisonCells(metric);
      return COLUMNS.map((name): Cell => {
        const value = cells[COMPARISON_COLUMNS.indexOf(name)] ?? "";
        return name === "verdict" ? { value, ...markOf(metric) } : { value };
      });
    }),
  };
}

function markOf({ verdict }: MetricComparison): { readonly mark?: CellMark } {
  return verdict === "worse" || verdict === "better" ? { mark: verdict } : {};
}
