import {
  answerCountOf,
  type Extracted,
  estimateExtractedMean,
  estimateExtractedPercentile,
} from "../../measure/extracted-tally.ts";
import { certaintyOf } from "../../measure/intervals/certainty.ts";
import { shapeOfSketch } from "../../measure/sketch.ts";
import { formatCount } from "../../plan/units.ts";
import { formatNeeds, formatRange, formatSamples, MARK } from "./confidence-notes.ts";
import { formatTable, INDENTED_COLUMNS } from "./format.ts";

/** Values that a target extracts from its answers, for Rampart's own reports. */

const PERCENTILES = [50, 90, 99] as const;
/** Different texts of one name in the console. The JSON report has all that were kept. */
const MAX_TEXTS = 8;

/** Formats the statistics of the numbers and the counts of the texts of a level; indented lines, joined. Empty without a value. */
export function formatExtracted(columns: readonly Extracted[]): string {
  const shown = columns.filter(({ numbers }) => numbers.count > 0);
  const header = [
    "extracted",
    "average",
    "min",
    ...PERCENTILES.map((percentile) => `p${percentile}`),
    "max",
    "answers",
  ];
  const rows = shown.map((column) => [
    column.name,
    ...[column.numbers.mean, column.numbers.min].map(formatNumber),
    ...PERCENTILES.map((percentile) => {
      const { value, isReliable } = estimateExtractedPercentile(column, percentile);
      return `${formatNumber(value)}${isReliable ? "" : MARK}`;
    }),
    formatNumber(column.numbers.max),
    formatCount(column.numbers.count),
  ]);
  const notes = shown.flatMap(describeNumbers);
  const table = rows.length === 0 ? [] : [...formatTable(header, rows, INDENTED_COLUMNS).split("\n"), ...notes, ""];
  const lines = [...table, ...columns.flatMap(describeTexts), ...columns.flatMap(describeMissing)];
  while (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line === "" ? "" : `  ${line}`)).join("\n");
}

/** Describes the intervals of a name's numbers. */
function describeNumbers(column: Extracted): string[] {
  const mean = estimateExtractedMean(column);
  const percentiles = PERCENTILES.map(
    (percentile) => [`p${percentile}`, estimateExtractedPercentile(column, percentile)] as const,
  );
  const ranges = [["average", mean] as const, ...percentiles].flatMap(([name, one]) => {
    const found = certaintyOf(one);
    return found.isCertain ? [`${name} ${formatRange(formatNumber(found.low), formatNumber(found.high))}`] : [];
  });
  const samples = `${column.name}: ${formatSamples(column.numbers.count, mean.effectiveCount, shapeOfSketch(column.numbers))}`;
  return [
    ranges.length === 0 ? samples : `${samples}; with 95 % confidence: ${ranges.join(", ")}`,
    ...formatNeeds(percentiles, { shape: shapeOfSketch(column.numbers) }),
  ];
}

function describeTexts(column: Extracted): string[] {
  const sorted = sortTexts(column);
  if (sorted.length === 0) return [];
  const shown = sorted.slice(0, MAX_TEXTS).map(([text, count]) => `${text} ${formatCount(count)}`);
  const rest = sorted.slice(MAX_TEXTS).reduce((sum, [, count]) => sum + count, column.otherCount);
  return [`${column.name}: ${shown.join(", ")}${rest === 0 ? "" : `, others ${formatCount(rest)}`}`];
}

function describeMissing(column: Extracted): string[] {
  const { name, missingCount } = column;
  if (missingCount === 0) return [];
  return [`${name}: missing in ${formatCount(missingCount)} of ${formatCount(answerCountOf(column))} answers`];
}

export function sortTexts({ texts }: Extracted): (readonly [text: string, count: number])[] {
  return [...texts].sort(([, a], [, b]) => b - a);
}

/** Formats an extracted number, or a statistic of several, with up to six digits. */
export function formatNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}
