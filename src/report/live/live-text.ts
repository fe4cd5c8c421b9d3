import { countOf, formatCount, formatPct } from "../../plan/units.ts";
import type { ModelTable } from "../model/report-model.ts";
import { column, FAILED_COLUMN, makeTable } from "../model/tables.ts";
import { formatThreeDigits, formatTime } from "../model/values.ts";
import { formatTextTable, valueText } from "../text/text-table.ts";
import { levelSoFar } from "./level-so-far.ts";
import {
  type LevelPlace,
  RECENT_NAMES,
  type RecentRates,
  type RecentWindows,
  type RunProgressRatio,
  type RunSnapshot,
} from "./run-snapshot.ts";

/** Text of the live view: the columns and units of the final table, over the last seconds. */

const BAR_COLUMNS = 24;
const MAX_COLUMNS = 79;
/** Columns of the level's table up to this drop order are shown: without the number of requests, which is in another line. */
const MOST_DROP_ORDER = 18;
const NOTHING = "nothing was answered in the last seconds";

/** A line for a terminal: its label, the text, and whether to highlight it. */
export interface LiveLine {
  readonly label: string;
  readonly text: string;
  readonly mark?: "good" | "bad";
  /** Set for a line over the whole width, which has no label. */
  readonly isWide?: true;
}

/** Width of the labels of lines. */
export const LABEL_COLUMNS = 13;

/** Formats the lines for a terminal. @param columns width of the terminal. Default: 79 */
export function formatLiveLines(state: RunSnapshot, columns = MAX_COLUMNS): LiveLine[] {
  const { place, failedCount, windows } = state;
  return [
    { label: formatClock(state.elapsedSec), text: formatPlace(place) },
    { label: "progress", text: `${formatBar(state.progress)}${formatProgress(state)}` },
    { label: "requests", text: formatCounts(state), ...(failedCount > 0 ? { mark: "bad" as const } : {}) },
    ...tableLines(state, columns),
    ...(windows === undefined ? [] : [formatStability(windows)]),
    { label: "client", text: formatClient(state) },
  ];
}

/** Formats the table: with tokens, the results of the level so far, otherwise the last seconds. */
function tableLines(state: RunSnapshot, columns: number): LiveLine[] {
  const { place, recent } = state;
  if (place === undefined) return [];
  const soFar = levelSoFar(state);
  if (soFar !== undefined) {
    const { lines } = formatTextTable(soFar, {
      maxColumns: Math.min(columns, MAX_COLUMNS),
      format: valueText,
      mostDropOrder: MOST_DROP_ORDER,
    });
    return lines.map((text) => ({ label: "", text, isWide: true }));
  }
  const style = { maxColumns: columns - LABEL_COLUMNS, format: valueText };
  const [header = "", row = ""] = formatTextTable(recentTable(state), style).lines;
  return [
    { label: "recent", text: header },
    { label: "", text: recent.latencyNs === undefined ? `${row}   ${NOTHING}` : row },
  ];
}

/** Builds the table of the last seconds. Chunks of a stream are not tokens. */
function recentTable({ recent, levels, place, failedCount }: RunSnapshot): ModelTable {
  const { requestsPerSec, chunksPerSec, latencyNs, firstResponseNs } = recent;
  const isStreamed = chunksPerSec !== undefined;
  const failed = levels.find((level) => level.place !== undefined && level.place === place)?.failedCount ?? failedCount;
  const time = (key: string, title: string, dropOrder: number, ns: number | undefined) =>
    column(key, title, "time", dropOrder, () => ns);
  const columns = [
    column("requestsPerSec", "req/s", "rate", 0, () => requestsPerSec),
    column("chunksPerSec", "chunks/s", "rate", 8, () => chunksPerSec),
    ...RECENT_NAMES.flatMap((name, index) =>
      name === "p50" || name === "p99"
        ? [time(`firstResponse.${name}`, `first ${name}`, 5, firstResponseNs?.[index])]
        : [],
    ),
    ...RECENT_NAMES.map((name, index) =>
      time(`latency.${name}`, isStreamed ? `e2e ${name}` : name, name === "p99" ? 1 : 6, latencyNs?.[index]),
    ),
    FAILED_COLUMN,
  ];
  return makeTable("", columns, [{ failed }]);
}

/** Formats one line for a file, short enough for most terminals. */
export function formatLiveLine(state: RunSnapshot): string {
  const { elapsedSec, place, windows, progress, recent, completedCount, failedCount } = state;
  const { latencyNs, requestsPerSec } = recent;
  const p99 = latencyNs?.[RECENT_NAMES.indexOf("p99")];
  const recently =
    p99 === undefined ? [NOTHING] : [`${formatThreeDigits(requestsPerSec)} req/s`, `p99 ${formatTime(p99)}`];
  const { leftSec, doneRatio } = progress ?? {};
  const wait = formatWait(state);
  const isOpen = leftSec === undefined || doneRatio === 1 || wait !== undefined;
  const left = isOpen ? formatProgress(state) : `${formatClock(Math.ceil(leftSec))} left`;
  const parts = [
    `${formatInteger(completedCount)} completed`,
    `${formatInteger(failedCount)} failed`,
    ...recently,
    ...(progress === undefined && windows?.atMost === undefined && wait === undefined ? [] : [left]),
  ];
  return `  ${Math.round(elapsedSec)} s, ${formatPlace(place)}: ${parts.join(", ")}`;
}

/** Describes a level: `phase 2/3 ramp, warm-up, concurrency 4`. */
export function formatPlace(place: LevelPlace | undefined): string {
  if (place === undefined) return "preparing";
  const { name, isWarmup, phase } = place;
  const phaseText = phase === undefined ? "" : `phase ${phase.number}/${phase.count} ${phase.label}, `;
  return `${phaseText}${isWarmup ? "warm-up, " : ""}${name}`;
}

function formatClock(elapsedSec: number): string {
  const seconds = Math.floor(elapsedSec);
  const minutes = Math.floor(seconds / 60);
  const two = (value: number): string => String(value).padStart(2, "0");
  return minutes < 60
    ? `${two(minutes)}:${two(seconds % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

function formatCounts(state: RunSnapshot): string {
  const { completedCount, failedCount, cancelledCount, outstanding, progress } = state;
  const of = progress?.requestCount === undefined ? "" : ` of ${formatInteger(progress.requestCount)}`;
  const cancelled = cancelledCount === 0 ? "" : `, cancelled ${formatInteger(cancelledCount)}`;
  const counts = `completed ${formatInteger(completedCount)}${of}, failed ${formatInteger(failedCount)}${cancelled}, in flight ${formatInteger(outstanding)}`;
  return `${counts}${levelSoFar(state) === undefined ? "" : formatArriving(state.recent)}`;
}

/** Describes the current rates, next to a table that does not show them. */
function formatArriving({ chunksPerSec, latencyNs }: RecentRates): string {
  if (chunksPerSec !== undefined && chunksPerSec > 0) return `, ${formatThreeDigits(chunksPerSec)} chunks/s now`;
  return latencyNs === undefined ? `, ${NOTHING}` : "";
}

/** Describes the requests that the run waits for, and the longest wait; undefined if it does not wait. */
export function formatWait({ waitSec, outstanding }: RunSnapshot): string | undefined {
  if (waitSec === undefined || outstanding === 0) return undefined;
  return `waits for ${countOf(outstanding, "request")}, at most ${Math.ceil(waitSec)} s`;
}

/** Describes the progress, or what the run waits for; if the end is unknown, the maximum number of windows of a level. */
function formatProgress(state: RunSnapshot): string {
  const { progress, windows } = state;
  const wait = formatWait(state);
  if (wait !== undefined) return wait;
  if (progress !== undefined) return `${formatDone(progress)}${formatLeft(progress)}`;
  if (windows?.atMost !== undefined) return `window ${windows.count} of at most ${windows.atMost}`;
  return "the end depends on what is measured";
}

function formatDone({ doneRatio }: RunProgressRatio): string {
  // Rounded down, so that only a run that has ended is 100 % done.
  return `${formatPct(Math.floor(doneRatio * 100) / 100, "whole")} done`;
}

function formatLeft({ leftSec, doneRatio }: RunProgressRatio): string {
  return leftSec === undefined || doneRatio === 1 ? "" : `, about ${formatClock(Math.ceil(leftSec))} left`;
}

/** Draws a progress bar; empty if the end is unknown. */
function formatBar(progress: RunProgressRatio | undefined): string {
  if (progress === undefined) return "";
  const done = Math.floor(progress.doneRatio * BAR_COLUMNS);
  return `[${"#".repeat(done)}${".".repeat(BAR_COLUMNS - done)}] `;
}

function formatStability(windows: RecentWindows): LiveLine {
  const text = formatWindows(windows);
  return { label: "windows", text, ...(windows.isStable === true ? { mark: "good" as const } : {}) };
}

function formatWindows(windows: RecentWindows): string {
  const { count, atMost, spread, toleranceRatio, isStable } = windows;
  const number = `${count}${atMost === undefined ? "" : ` (at most ${atMost})`}`;
  if (toleranceRatio === undefined) return number;
  if (spread === undefined) return `${number}; stable when 3 in a row agree within ${formatPercent(toleranceRatio)}`;
  const { throughputRatio, latencyRatio } = spread;
  const vary = `throughput varies ${formatPercent(throughputRatio)}, latency ${formatPercent(latencyRatio)}`;
  return `${number}, ${isStable === true ? "stable" : "not stable"}: ${vary}`;
}

function formatClient({ client: { cpuRatio, loopLagMaxNs } }: RunSnapshot): string {
  return `${formatPct(cpuRatio, "whole")} of a core, event loop late by ${formatTime(loopLagMaxNs)} at most`;
}

/** @param ratio not a number, or infinite, if a window had no success */
function formatPercent(ratio: number): string {
  return Number.isFinite(ratio) ? formatPct(ratio, 2) : "far more";
}

function formatInteger(value: number): string {
  return formatCount(Math.round(value));
}
