import { entryOf, isTimeMetric, nameOfMetric, TOKEN_METRICS, type TokenMetric } from "../../measure/tokens/metrics.ts";
import { formatCount, usToNs } from "../../plan/units.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import { detail } from "./level-sections.ts";
import type { ModelTable, Section } from "./report-model.ts";
import { levelNames, type NamedRow, type ReportView } from "./report-view.ts";
import { type ColumnSpec, column, makeTable, spreadCell } from "./tables.ts";

/** Sections of token metrics, and of values that a target extracts from its answers: of levels, and of their parts by tag. */

type Values = Pick<LevelJson, "tokens" | "extracted">;
type SpreadJson = NonNullable<LevelJson["tokens"]>["metrics"][string];

/** A statistic of a metric at a level, or of a part of it. */
interface SpreadRow extends NamedRow {
  readonly part: string;
  readonly metric: string;
  readonly found: SpreadJson;
}

/** What is measured: a level, or the requests with one value of a tag. */
interface Part extends NamedRow {
  /** `target chat`; empty for the whole level. */
  readonly part: string;
  readonly values: Values;
}

/** Different texts of one name. The JSON report has all that were kept. */
const MOST_TEXTS = 8;
/** More rows than this are no answer at a glance. */
const MOST_SUMMARY_ROWS = 12;

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

/** Makes the section of token metrics: times, and numbers; undefined when none are measured. */
export function tokenSection(view: ReportView): Section | undefined {
  const parts = partsOf(view).filter(({ values: { tokens } }) => tokens !== undefined);
  if (parts.length === 0) return undefined;
  const rowsOf = (isTime: boolean): SpreadRow[] =>
    parts.flatMap((part) =>
      TOKEN_METRICS.filter((metric) => entryOf(metric).isRow === true && isTimeMetric(metric) === isTime).flatMap(
        (metric) => {
          const found = part.values.tokens?.metrics[keyOf(metric)];
          return found === undefined ? [] : [{ ...part, metric: entryOf(metric).label, found }];
        },
      ),
    );
  const table = (isTime: boolean, title: string): ModelTable =>
    makeTable(title, spreadColumns(view, "metric", isTime ? "time" : "rate"), rowsOf(isTime));
  return detail("tokens", "Tokens", [table(true, "times"), table(false, "numbers")]);
}

function keyOf(metric: TokenMetric): string {
  return isTimeMetric(metric) ? `${nameOfMetric(metric)}Us` : metric;
}

function spreadColumns<Row extends SpreadRow>(
  view: ReportView,
  what: string,
  quantity: "time" | "rate" | "number",
): ColumnSpec<Row>[] {
  const scale = quantity === "time" ? usToNs : (value: number): number => value;
  return [
    ...levelNames(view),
    column("part", "of", "text", 0, ({ part }) => part),
    column("metric", what, "text", 0, ({ metric }) => metric),
    column("mean", "mean", quantity, 2, ({ found }) => spreadCell(found, "mean", scale)),
    column("p50", "p50", quantity, 1, ({ found }) => spreadCell(found, "p50", scale)),
    column("p90", "p90", quantity, 3, ({ found }) => spreadCell(found, "p90", scale)),
    column("p99", "p99", quantity, 1, ({ found }) => spreadCell(found, "p99", scale)),
    column("max", "max", quantity, 4, ({ found }) => scale(found.max)),
    column("count", "values", "count", 5, ({ found }) => found.count),
  ];
}

/** Makes the section of extracted values: statistics of numbers, counts of texts; undefined without any. */
export function extractedSection(view: ReportView): Section | undefined {
  const parts = partsOf(view).filter(({ values: { extracted } }) => extracted !== undefined);
  const all = parts.flatMap((part) =>
    Object.entries(part.values.extracted ?? {}).map(([name, found]) => ({ ...part, metric: name, value: found })),
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
    makeTable<SpreadRow>("", spreadColumns(view, "extracted", "number"), rows),
    makeTable("", textColumns, texts),
  ];
  return {
    ...detail("extracted", "Extracted values", tables),
    isSummary: rows.length + texts.length <= MOST_SUMMARY_ROWS,
  };
}

function describeTexts({ texts = {}, otherTexts = 0 }: NonNullable<LevelJson["extracted"]>[string]): string {
  const all = Object.entries(texts);
  const rest = all.slice(MOST_TEXTS).reduce((sum, [, count]) => sum + count, otherTexts);
  const shown = all.slice(0, MOST_TEXTS).map(([text, count]) => `${text} ${formatCount(count)}`);
  return [...shown, ...(rest === 0 ? [] : [`others ${formatCount(rest)}`])].join(", ");
}
