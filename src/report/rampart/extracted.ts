import type { ExtractedColumn, ExtractedTally } from "../../measure/extracted-tally.ts";
import { formatCount } from "../../plan/units.ts";
import { formatTable, INDENTED_COLUMNS } from "./format.ts";

/** Values that a target extracts from its answers, for Rampart's own reports. */

const PERCENTILES = [50, 90, 99] as const;
/** Different texts of one name in the console. The JSON report has all that were kept. */
const MAX_TEXTS = 8;

/** Formats the statistics of the numbers and the counts of the texts of a level; indented lines, joined. Empty without a value. */
export function formatExtracted({ columns }: ExtractedTally): string {
  const numbers = columns.filter(({ numberCount }) => numberCount > 0);
  const header = [
    "extracted",
    "average",
    "min",
    ...PERCENTILES.map((percentile) => `p${percentile}`),
    "max",
    "answers",
  ];
  const rows = numbers.map((column) => [
    column.name,
    ...[column.mean, column.min, ...PERCENTILES.map((percentile) => column.percentile(percentile)), column.max].map(
      formatNumber,
    ),
    formatCount(column.numberCount),
  ]);
  const table = rows.length === 0 ? [] : [...formatTable(header, rows, INDENTED_COLUMNS).split("\n"), ""];
  const lines = [...table, ...columns.flatMap(describeTexts), ...columns.flatMap(describeMissing)];
  while (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line === "" ? "" : `  ${line}`)).join("\n");
}

/** Converts the values of a level to JSON, by name. */
export function toExtractedJson({ columns }: ExtractedTally): object {
  return Object.fromEntries(
    columns.map((column) => {
      const { name, numberCount, missingCount, texts, otherCount, mean, min, max, isRounded } = column;
      const percentiles = PERCENTILES.map((percentile) => [`p${percentile}`, column.percentile(percentile)]);
      const numbers = { count: numberCount, mean, min, max, ...(Object.fromEntries(percentiles) as object) };
      return [
        name,
        {
          ...(numberCount === 0 ? {} : { numbers, ...(isRounded ? { percentileDigits: 3 } : {}) }),
          ...(texts.size === 0 ? {} : { texts: Object.fromEntries(sortTexts(column)) as object }),
          ...(otherCount === 0 ? {} : { otherTexts: otherCount }),
          missing: missingCount,
        },
      ];
    }),
  );
}

function describeTexts(column: ExtractedColumn): string[] {
  const sorted = sortTexts(column);
  if (sorted.length === 0) return [];
  const shown = sorted.slice(0, MAX_TEXTS).map(([text, count]) => `${text} ${formatCount(count)}`);
  const rest = sorted.slice(MAX_TEXTS).reduce((sum, [, count]) => sum + count, column.otherCount);
  return [`${column.name}: ${shown.join(", ")}${rest === 0 ? "" : `, others ${formatCount(rest)}`}`];
}

function describeMissing({ name, missingCount, numberCount, texts, otherCount }: ExtractedColumn): string[] {
  if (missingCount === 0) return [];
  const total = [...texts.values()].reduce((sum, count) => sum + count, missingCount + numberCount + otherCount);
  return [`${name}: missing in ${formatCount(missingCount)} of ${formatCount(total)} answers`];
}

function sortTexts({ texts }: ExtractedColumn): [text: string, count: number][] {
  return [...texts].sort(([, a], [, b]) => b - a);
}

function formatNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}
