import { LEVEL_UNITS } from "../../load/level-units.ts";
import { formatCount } from "../../plan/units.ts";
import type { RunJson } from "../schema/report-schema.ts";
import { levelTable } from "./level-sections.ts";
import type { SingleLevel } from "./report-model.ts";
import type { LevelRow, ReportView } from "./report-view.ts";
import { formatBytes, formatCell, formatSeconds, formatValue, MARK } from "./values.ts";

/** A report on one level in a few texts instead of a table, for commands that measure one request. */

/** Times of the level, in the order of the columns. */
const TIMES = /^(?:latency|scheduledLatency|firstResponse)\./;
const RARE_TIMES = new Set(["latency.p99.9"]);

/** Returns the texts; undefined unless there is exactly one level in one run. */
export function singleLevel(view: ReportView): SingleLevel | undefined {
  const [[level, ...others], [run]] = [view.levels, view.runs];
  if (level === undefined || run === undefined || others.length > 0) return undefined;
  const { json } = level;
  const { columns, rows } = levelTable(view);
  const cells = columns.map((column, index) => ({ ...column, cell: rows[0]?.[index] ?? {} }));
  const times = cells.flatMap(({ key, title, quantity, cell }) =>
    TIMES.test(key) && !RARE_TIMES.has(key) && cell.value !== undefined
      ? [`${title} ${formatCell(cell, quantity)}`]
      : [],
  );
  const throughput = cells.find(({ key }) => key === "throughput")?.cell;
  const outcome = cells.find(({ key }) => key === "outcome")?.cell.value;
  return {
    facts: [
      describeLoad(level),
      formatSeconds(json.durationSec),
      `${formatValue(throughput?.value ?? 0, "rate")} ${view.words.unit}${throughput?.mark === "uncertain" ? MARK : ""}`,
    ],
    lines: [times, [...describeCounts(level, run.json), ...(outcome === undefined ? [] : [String(outcome)])]],
  };
}

/** Describes the load: `16 in flight`, or a rate in the words of the table. */
function describeLoad({ json: { level, load } }: LevelRow): string {
  const { isScheduled, column } = LEVEL_UNITS[load.unit];
  return `${formatValue(level, "number")} ${isScheduled ? column : "in flight"}`;
}

/** Describes the requests of the level, and the data received over HTTP as ratios, because it is counted over the run. */
function describeCounts({ json: { completed, failed } }: LevelRow, { responses, receivedBytes }: RunJson): string[] {
  const counted = [`completed ${formatCount(completed)}`, `failed ${formatCount(failed)}`];
  const statuses = Object.entries(responses ?? {});
  const total = statuses.reduce((sum, [, count]) => sum + count, 0);
  if (receivedBytes === undefined || total === 0) return counted;
  const [[only = ""] = []] = statuses;
  if (total === completed + failed) {
    const counts = statuses.map(([status, count]) => `status ${status}: ${formatCount(count)}`);
    return [...counts, ...counted.slice(1), `received ${formatBytes(receivedBytes)}`];
  }
  const each = `received ${formatBytes(Math.round(receivedBytes / total))} each`;
  if (statuses.length === 1) return [...counted, `status ${only}`, each];
  const counts = statuses.map(([status, count]) => `${status}: ${formatCount(count)}`);
  return [...counted, `statuses with the warm-up ${counts.join(", ")}`, each];
}
