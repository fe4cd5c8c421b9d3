import { entryOf, isTimeMetric, nameOfMetric, TOKEN_METRICS } from "../../measure/tokens/metrics.ts";
import { formatCount } from "../../plan/units.ts";
import { formatRange, MARK } from "../rampart/confidence-notes.ts";
import { formatNumber } from "../rampart/extracted.ts";
import { formatUs } from "../rampart/format.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import type { ResultTable, TableCell } from "./result-table.ts";

/** Tables of token metrics, and of the values that a target extracts. */

type Measured = Pick<LevelJson, "tokens" | "extracted">;
type SpreadJson = NonNullable<LevelJson["tokens"]>["metrics"][string];

/** Measurements with the name of their row. */
interface NamedValues {
  readonly name: string;
  readonly json: Measured;
}

const PERCENTILES = ["p50", "p90", "p99"] as const;
/** Different texts of one name. The JSON report has all that were kept. */
const MOST_TEXTS = 8;

/** Makes the table of token metrics; without rows when none are measured. @param what names the first column */
export function tokenTable(all: readonly NamedValues[], what = "level"): ResultTable {
  const names = new Map<string, (typeof TOKEN_METRICS)[number]>(
    TOKEN_METRICS.map((metric) => [isTimeMetric(metric) ? `${nameOfMetric(metric)}Us` : metric, metric]),
  );
  const rows = all.flatMap(({ name, json: { tokens } }) => {
    const rate = tokens?.outputTokensPerSec ?? 0;
    const metrics = Object.entries(tokens?.metrics ?? {}).map(([key, found]): TableCell[] => {
      const metric = names.get(key);
      const format = metric !== undefined && isTimeMetric(metric) ? formatUs : formatCount;
      return [
        metric === undefined ? key : entryOf(metric).label,
        ...spreadCells(found, format),
        formatCount(found.count),
      ];
    });
    const rates = rate > 0 ? [["output tokens/s", formatCount(rate), "", "", "", "", ""]] : [];
    return [...metrics, ...rates].map((cells, index) => [index === 0 ? name : "", ...cells]);
  });
  return { title: "Tokens", header: [what, "metric", "average", ...PERCENTILES, "max", "requests"], rows };
}

/** Makes the table of extracted values; without rows when there are none. @param what names the first column */
export function extractedTable(all: readonly NamedValues[], what = "level"): ResultTable {
  const rows = all.flatMap(({ name, json: { extracted = {} } }) =>
    Object.entries(extracted).map(([key, found], index): TableCell[] => [
      index === 0 ? name : "",
      key,
      ...(found.numbers === undefined
        ? ["", "", "", "", "", ""]
        : [...spreadCells(found.numbers, formatNumber), formatCount(found.numbers.count)]),
      { text: describeTexts(found), look: "text" },
      found.missing === 0 ? "" : formatCount(found.missing),
    ]),
  );
  const header = [what, "value", "average", ...PERCENTILES, "max", "numbers", "texts", "missing"];
  return { title: "Extracted values", header, rows };
}

function spreadCells(found: SpreadJson, format: (value: number) => string): TableCell[] {
  const { low, high } = found.confidence95.mean;
  const mean = format(found.mean);
  return [
    low === null || high === null ? mean : { text: mean, small: formatRange(format(low), format(high)) },
    ...PERCENTILES.map((name) => `${format(found[name])}${found.confidence95[name].isReliable ? "" : MARK}`),
    format(found.max),
  ];
}

function describeTexts({ texts = {}, otherTexts = 0 }: NonNullable<LevelJson["extracted"]>[string]): string {
  const all = Object.entries(texts);
  const rest = all.slice(MOST_TEXTS).reduce((sum, [, count]) => sum + count, otherTexts);
  const shown = all.slice(0, MOST_TEXTS).map(([text, count]) => `${text} ${formatCount(count)}`);
  return [...shown, ...(rest === 0 ? [] : [`others ${formatCount(rest)}`])].join(", ");
}
