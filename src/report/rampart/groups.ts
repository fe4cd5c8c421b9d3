import { splitByTag, type TaggedPart, tagNamesOf } from "../../measure/groups.ts";
import { latencyOf, type Measurement } from "../../measure/measurement.ts";
import { errorRatio, inferPerSec } from "../../measure/metrics.ts";
import { averageUs } from "../../measure/server-delta.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import type { Plan } from "../../plan/plan.ts";
import { TARGET_TAG } from "../../plan/split/tags.ts";
import { formatCount, formatDurationNs, formatPct } from "../../plan/units.ts";
import { describeLevel } from "../../registry/load-modes.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import type { LevelResult } from "../../result/run-result.ts";
import { CONSOLE_PERCENTILES, formatMarked } from "./confidence-notes.ts";
import { formatExtracted } from "./extracted.ts";
import { formatTable, formatUs } from "./format.ts";
import { TOKEN_HEADER, tokenCells } from "./tokens.ts";

/** Tables by tag, for the console. The values of a tag together are the level. */

/** Values of a tag whose tokens and extracted values the console has. The JSON report has all. */
const MAX_DETAILED = 6;

/** The requests with one value of a tag at one level. */
interface Row {
  readonly level: LevelResult;
  readonly value: string;
  readonly part: TaggedPart;
}

/** Formats a table for each tag, with what its values extracted and their tokens. @param unit of throughput */
export function formatGroups(plan: Plan, levels: readonly LevelResult[], unit: string): string {
  const names = [...new Set(levels.flatMap((level) => tagNamesOf(level)))];
  return names
    .map((name) => {
      const rows = levels.flatMap((level) =>
        splitByTag(level, name).map((part): Row => ({ level, part, value: part.tags[name] ?? `(no ${name})` })),
      );
      return `\n${formatTag(plan, name, rows, unit)}\n${formatDetails(plan, name, rows)}`;
    })
    .join("");
}

function formatTag(plan: Plan, name: string, rows: readonly Row[], unit: string): string {
  const hasLevels = hasManyLevels(rows);
  const isScheduled = rows.some(({ part: { window } }) => window.isScheduled);
  const hasServer = rows.some(({ part: { window } }) => window.server !== undefined);
  const header = [
    name,
    unit,
    "average",
    ...CONSOLE_PERCENTILES.map((percentile) => `p${percentile}`),
    ...(isScheduled ? ["p99 from due time"] : []),
    ...(hasServer ? ["server avg"] : []),
    "errors",
    "requests",
  ];
  const cells = rows.map(({ level, value, part: { window } }) => [
    nameRow(plan, level, value, hasLevels),
    formatCount(inferPerSec(window, plan.target.batchSize)),
    window.requestCount === 0 ? "-" : formatDurationNs(window.latency.mean),
    ...CONSOLE_PERCENTILES.map((percentile) => formatMarked(window.latency, percentile)),
    ...(isScheduled ? [formatMarked(latencyOf(window, "scheduledLatency"), 99)] : []),
    ...(hasServer ? [formatServer(window)] : []),
    formatPct(errorRatio(window)),
    formatCount(window.requestCount),
  ]);
  return formatTable(header, cells);
}

function hasManyLevels(rows: readonly Row[]): boolean {
  return rows.some(({ level }) => level !== rows[0]?.level);
}

function nameRow({ load }: Plan, { level, phase }: LevelResult, value: string, hasLevels: boolean): string {
  return hasLevels ? `${value}, ${describeLevel(load, level, phase?.index)}` : value;
}

function formatServer({ server }: Measurement): string {
  return server === undefined ? "-" : formatUs(averageUs(server.successNs, server.successCount));
}

/** Whether the level shows the same tokens, because no other requests have any. Each target has a table of its own. */
function isKnown(name: string, level: LevelResult, { count }: TokenColumns): boolean {
  return name !== TARGET_TAG && count === level.tokens?.count;
}

/** Formats the tokens of all rows as one table, and the values that each extracted; empty for none. */
function formatDetails(plan: Plan, name: string, rows: readonly Row[]): string {
  if (new Set(rows.map(({ value }) => value)).size > MAX_DETAILED) return "";
  const texts = [formatTokenTable(plan, name, rows)];
  for (const { level, value, part } of rows) {
    if (part.window.extracted === undefined) continue;
    const text = formatExtracted(part.window.extracted);
    texts.push(
      text === "" ? "" : `${name} ${value}, ${describeLevel(plan.load, level.level, level.phase?.index)}\n${text}`,
    );
  }
  return texts.map((text) => (text === "" ? "" : `\n${text}\n`)).join("");
}

function formatTokenTable(plan: Plan, name: string, rows: readonly Row[]): string {
  const hasLevels = hasManyLevels(rows);
  const cells = rows.flatMap(({ level, value, part: { tags, window, tokens } }) =>
    tokens === undefined || tokens.count === 0 || isKnown(name, level, tokens)
      ? []
      : tokenCells(tokens, window, tokensPlanOf(plan, tags)?.isStreamed === true).map((row) => [
          nameRow(plan, level, value, hasLevels),
          ...row,
        ]),
  );
  return cells.length === 0 ? "" : formatTable([name, ...TOKEN_HEADER], cells, Number.POSITIVE_INFINITY);
}
