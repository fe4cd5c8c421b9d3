import { reportedMetrics } from "../../measure/metrics/catalogue.ts";
import type { Metric } from "../../measure/metrics/metric.ts";
import { entryOf, nameOfMetric, TOKEN_METRICS } from "../../measure/tokens/metrics.ts";
import { formatCount } from "../../plan/units.ts";
import type { SpreadJson } from "../schema/metrics.ts";
import { findSpread, readerOf, readMetric, type StatisticName, scaleOf } from "../schema/read-metrics.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import { FILE_DROP_ORDER } from "./level-columns.ts";
import { MOST_SUMMARY_ROWS } from "./level-sections.ts";
import type { Cell, CellQuantity, Section } from "./report-model.ts";
import { levelNames, type NamedRow, type ReportView } from "./report-view.ts";
import { type ColumnSpec, column, detail, makeTable, spreadCell } from "./tables.ts";
import { endsAfter, formatMetricValue } from "./values.ts";

/** Sections of metrics without a separate column, and of extracted values: for levels, and for their parts by tag. */

type Values = Pick<LevelJson, "metrics" | "extracted" | "derived">;

/** A statistic of a metric at a level, or of a part of it. */
interface SpreadRow extends NamedRow {
  readonly part: string;
  readonly metric: string;
  readonly found: SpreadJson;
  readonly scale?: (value: number) => number;
}

/** The measured requests: of a level, or those with one value of a tag. */
interface Part extends NamedRow {
  /** `target chat`; empty for the whole level. */
  readonly part: string;
  readonly values: Values;
}

/** Maximum number of different texts of one name. The JSON report contains all that were kept. */
const MOST_TEXTS = 8;

function partsOf({ levels }: ReportView): Part[] {
  return levels.flatMap((level) => [
    { ...level, part: "", values: level.json },
    ...(level.json.groups ?? []).map(({ tags, ...values }) => ({
      ...level,
      part: Object.entries(tags)
        .map(([name, value]) => (value === null ? `(no ${name})` : `${name} ${value}`))
        .join(", "),
      values,
    })),
  ]);
}

/** Reports whether a metric is a token metric of single requests. */
function isOfTokens({ needs, statistics }: Metric): boolean {
  return statistics !== undefined && (needs === "tokens" || needs === "streams");
}

/** Titles of the tables of token metrics, by quantity. */
const TOKEN_TABLES: readonly (readonly [quantity: CellQuantity, title: string])[] = [
  ["time", "times"],
  ["count", "numbers"],
  ["rate", "rates"],
  ["ratio", "ratios"],
];

/**
 * Builds the section of token metrics; undefined if none are measured. Omits reasoning if there was none, and times that show how a
 * response was split instead of how it was generated.
 */
export function tokenSection(view: ReportView): Section | undefined {
  const parts = partsOf(view);
  const tables = TOKEN_TABLES.map(([quantity, title]) => {
    const metrics = reportedMetrics().filter(({ entry }) => isOfTokens(entry) && entry.quantity === quantity);
    const rows = parts.flatMap((part) =>
      metrics.flatMap(({ key, entry }): SpreadRow[] => {
        const found = findSpread(part.values.metrics, key);
        const isNothing =
          (quantity === "count" && found?.max === 0) ||
          readerOf(part.values.metrics)(key, "mean") === undefined ||
          (entry.differsByReasoning === true && !hasReasoning(part.values.metrics));
        return found === undefined || isNothing ? [] : [{ ...part, metric: entry.label, found, scale: scaleOf(key) }];
      }),
    );
    return makeTable(title, spreadColumns(view, "metric", quantity), rows);
  });
  const section = detail("tokens", "Tokens", tables);
  return section.tables.length === 0 ? undefined : section;
}

/** Reports whether there was reasoning. Without reasoning, the first token is the first output token. */
function hasReasoning(metrics: Values["metrics"]): boolean {
  const counts = TOKEN_METRICS.filter((metric) => entryOf(metric).isOfReasoning === true);
  return counts.some((metric) => (findSpread(metrics, nameOfMetric(metric))?.max ?? 0) > 0);
}

/** A metric at a level, or at a part of it. */
interface OtherRow extends NamedRow {
  readonly part: string;
  readonly key: string;
  readonly entry: Metric;
  readonly values: Values;
}

/**
 * Builds the section of all other metrics, in the order of the catalogue: those that no earlier table contains; undefined if there
 * are none. So a new metric is shown without a separate column.
 */
export function otherSection(view: ReportView, before: readonly Section[]): Section | undefined {
  const columns = before.flatMap(({ tables }) => tables.flatMap((table) => table.columns.map(({ key }) => key)));
  const shown = new Set(columns.map((key) => key.replace(/\..*$/, "")));
  const metrics = reportedMetrics().filter(({ key, entry }) => !isOfTokens(entry) && !shown.has(key));
  const rows = partsOf(view).flatMap((part) =>
    metrics
      .filter(({ name }) => part.values.metrics[name] !== undefined)
      .map(({ key, entry }): OtherRow => ({ ...part, key, entry })),
  );
  const hasStatistics = rows.some(({ entry }) => entry.statistics !== undefined);
  const text = ({ key, entry, values }: OtherRow, statistic?: StatisticName): Cell | undefined => {
    const isOne = entry.statistics === undefined;
    const found = readMetric(values.metrics, key, isOne ? undefined : (statistic ?? "mean"));
    if (found === undefined || (isOne && statistic !== undefined)) return undefined;
    const format = (value: number): string => formatMetricValue({ key }, value, view.words.unit);
    return { value: `${format(found.value)}${endsAfter(found, format)}` };
  };
  const specs: ColumnSpec<OtherRow>[] = [
    ...levelNames(view),
    column("part", "of", "text", 0, ({ part }) => part),
    column("metric", "metric", "text", 0, ({ entry }) => entry.label),
    column("value", hasStatistics ? "mean" : "value", "mixed", 1, (row) => text(row)),
    ...(["p50", "p99", "max"] as const).map((name) =>
      column<OtherRow>(name, name, "mixed", 2, (row) => text(row, name)),
    ),
  ];
  return rows.length === 0 ? undefined : detail("other", "Other metrics", [makeTable("", specs, rows)]);
}

function spreadColumns<Row extends SpreadRow>(
  view: ReportView,
  what: string,
  quantity: CellQuantity,
): ColumnSpec<Row>[] {
  const statistic = (name: StatisticName, title: string, dropOrder: number): ColumnSpec<Row> =>
    column(name, title, quantity, dropOrder, ({ found, scale }) => spreadCell(found, name, scale));
  return [
    ...levelNames(view),
    column("part", "of", "text", 0, ({ part }) => part),
    column("metric", what, "text", 0, ({ metric }) => metric),
    statistic("mean", "mean", 2),
    statistic("p50", "p50", 1),
    statistic("p90", "p90", 3),
    statistic("p99", "p99", 1),
    statistic("max", "max", 4),
    column("count", "values", "count", FILE_DROP_ORDER, ({ found }) => found.count),
  ];
}

/** Builds the section of extracted values: statistics of numbers, counts of texts; undefined if there are none. */
export function extractedSection(view: ReportView): Section | undefined {
  const parts = partsOf(view).filter(({ values: { extracted } }) => extracted !== undefined);
  const all = parts.flatMap((part) =>
    Object.entries(part.values.extracted ?? {}).map(([name, found]) => ({
      ...part,
      metric: withUnit(name, found.unit),
      value: found,
    })),
  );
  if (all.length === 0) return undefined;
  const rows = all.flatMap(({ value, ...row }) =>
    value.numbers === undefined ? [] : [{ ...row, found: value.numbers }],
  );
  const texts = all
    .map((row) => ({ ...row, text: describeTexts(row.value) }))
    .filter(({ text, value }) => text !== "" || value.missing > 0);
  const textColumns: ColumnSpec<(typeof texts)[number]>[] = [
    ...levelNames(view),
    column("part", "of", "text", 0, ({ part }) => part),
    column("metric", "extracted", "text", 0, ({ metric }) => metric),
    column("texts", "texts", "text", 0, ({ text }) => text),
    column("missing", "missing", "count", 0, ({ value: { missing } }) => (missing === 0 ? undefined : missing)),
  ];
  const tables = [
    makeTable<SpreadRow>("", spreadColumns(view, "extracted", "count"), rows),
    makeTable("", textColumns, texts),
  ];
  return {
    ...detail("extracted", "Extracted values", tables),
    isSummary: rows.length + texts.length <= MOST_SUMMARY_ROWS,
  };
}

interface DerivedRow extends NamedRow {
  readonly part: string;
  readonly metric: string;
  readonly found: NonNullable<LevelJson["derived"]>[string];
}

/** Builds the section of derived metrics; undefined if there are none. A metric without a value shows the reason. */
export function derivedSection(view: ReportView): Section | undefined {
  const rows = partsOf(view).flatMap((part) =>
    Object.entries(part.values.derived ?? {}).map(
      ([name, found]): DerivedRow => ({ ...part, metric: withUnit(name, found.unit), found }),
    ),
  );
  if (rows.length === 0) return undefined;
  const specs: ColumnSpec<DerivedRow>[] = [
    ...levelNames(view),
    column("part", "of", "text", 0, ({ part }) => part),
    column("metric", "derived", "text", 0, ({ metric }) => metric),
    column("value", "value", "count", 0, ({ found }) => found.value),
    column("missing", "why not", "text", 0, ({ found }) => found.missing),
  ];
  return {
    ...detail("derived", "Derived metrics", [makeTable("", specs, rows)]),
    isSummary: rows.length <= MOST_SUMMARY_ROWS,
  };
}

function withUnit(name: string, unit: string | undefined): string {
  return unit === undefined ? name : `${name} (${unit})`;
}

function describeTexts({ texts = {}, otherTexts = 0 }: NonNullable<LevelJson["extracted"]>[string]): string {
  const all = Object.entries(texts);
  const rest = all.slice(MOST_TEXTS).reduce((sum, [, count]) => sum + count, otherTexts);
  const shown = all.slice(0, MOST_TEXTS).map(([text, count]) => `${text} ${formatCount(count)}`);
  return [...shown, ...(rest === 0 ? [] : [`others ${formatCount(rest)}`])].join(", ");
}
