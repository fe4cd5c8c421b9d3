import { LEVEL_UNITS } from "../../load/level-units.ts";
import { formatCount, nsToMs } from "../../plan/units.ts";
import type { LevelPlace, RecentWindows, RunProgressRatio, RunSnapshot } from "./run-snapshot.ts";

/** Text of the live view. */

const BAR_COLUMNS = 24;

/** A line for a terminal: what it is about, the text, and whether to point it out. */
export interface LiveLine {
  readonly label: string;
  readonly text: string;
  readonly mark?: "good" | "bad";
}

/** Formats the lines for a terminal. They fit into 80 columns unless numbers are long. */
export function formatLiveLines(state: RunSnapshot): LiveLine[] {
  const { recent, place, failedCount, windows } = state;
  const { latencyNs, firstResponseNs, chunksPerSec } = recent;
  const times = (values: readonly number[] | undefined): string =>
    values === undefined ? "nothing was answered in the last seconds" : formatTimes(values);
  return [
    { label: formatClock(state.elapsedSec), text: formatPlace(place) },
    { label: "requests", text: formatCounts(state), ...(failedCount > 0 ? { mark: "bad" as const } : {}) },
    { label: "progress", text: `${formatBar(state.progress)}${formatProgress(state)}` },
    { label: "rate", text: formatRates(state) },
    ...(chunksPerSec === undefined ? [] : [{ label: "first chunk", text: times(firstResponseNs) }]),
    { label: "latency", text: times(latencyNs) },
    ...(windows === undefined ? [] : [formatStability(windows)]),
    { label: "client", text: formatClient(state) },
  ];
}

/** Formats one line for a file. */
export function formatLiveLine(state: RunSnapshot): string {
  const { elapsedSec, place, windows, progress, recent } = state;
  const parts = [
    ...[`${formatCounts(state)}${progress === undefined ? "" : ` (${formatProgress(state)})`}`, formatRates(state)],
    ...[describeTimes(recent.firstResponseNs, recent.latencyNs)],
    ...(windows === undefined ? [] : [`windows: ${formatWindows(windows)}`]),
    `client: ${formatClient(state)}`,
  ];
  return `rampart: ${Math.round(elapsedSec)} s: ${formatPlace(place)}: ${parts.join("; ")}`;
}

/** Describes a level: `phase 2/3 ramp, warm-up, concurrency 4`. */
export function formatPlace(place: LevelPlace | undefined): string {
  if (place === undefined) return "preparing";
  const { unit, level, isWarmup, phase } = place;
  const phaseText = phase === undefined ? "" : `phase ${phase.number}/${phase.count} ${phase.label}, `;
  return `${phaseText}${isWarmup ? "warm-up, " : ""}${LEVEL_UNITS[unit].describe(level)}`;
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
  return `completed ${formatInteger(completedCount)}${of}, failed ${formatInteger(failedCount)}${cancelled}, in flight ${formatInteger(outstanding)}`;
}

/** Describes how much is done; without a known end, how many windows a level has at most. */
function formatProgress({ progress, windows }: RunSnapshot): string {
  if (progress !== undefined) return `${formatDone(progress)}${formatLeft(progress)}`;
  if (windows?.atMost !== undefined) return `window ${windows.count} of at most ${windows.atMost}`;
  return "the end depends on what is measured";
}

function formatDone({ doneRatio }: RunProgressRatio): string {
  return `${Math.floor(doneRatio * 100)} % done`;
}

function formatLeft({ leftSec, doneRatio }: RunProgressRatio): string {
  return leftSec === undefined || doneRatio === 1 ? "" : `, about ${formatClock(Math.ceil(leftSec))} left`;
}

/** Draws a bar of how much is done; empty if the end is not known. */
function formatBar(progress: RunProgressRatio | undefined): string {
  if (progress === undefined) return "";
  const done = Math.floor(progress.doneRatio * BAR_COLUMNS);
  return `[${"#".repeat(done)}${".".repeat(BAR_COLUMNS - done)}] `;
}

function formatRates({ sentCount, recent: { requestsPerSec, chunksPerSec } }: RunSnapshot): string {
  const chunks = chunksPerSec === undefined ? "" : `, ${formatRate(chunksPerSec)} chunks/s`;
  return `${formatRate(requestsPerSec)} requests/s${chunks}, sent ${formatInteger(sentCount)}`;
}

function describeTimes(
  firstResponseNs: readonly number[] | undefined,
  latencyNs: readonly number[] | undefined,
): string {
  const parts: string[] = [];
  if (firstResponseNs !== undefined) parts.push(`first chunk ${formatTimes(firstResponseNs)}`);
  if (latencyNs !== undefined) parts.push(`latency ${formatTimes(latencyNs)}`);
  return parts.length === 0 ? "nothing was answered in the last seconds" : parts.join(", ");
}

/** @param values at `RECENT_RATIOS` */
function formatTimes(values: readonly number[]): string {
  return ["p50", "p90", "p99", "p99.9"].map((name, i) => `${name} ${formatMs(values[i] ?? Number.NaN)}`).join("  ");
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
  return `${Math.round(cpuRatio * 100)} % of a core, event loop late by ${formatMs(loopLagMaxNs)} at most`;
}

function formatMs(durationNs: number): string {
  const durationMs = nsToMs(durationNs);
  return `${durationMs < 10 ? durationMs.toFixed(2) : durationMs < 100 ? durationMs.toFixed(1) : formatInteger(Math.round(durationMs))} ms`;
}

function formatRate(perSec: number): string {
  return perSec < 100 ? perSec.toFixed(1) : formatInteger(Math.round(perSec));
}

/** @param ratio not a number, or infinite, if a window had no success */
function formatPercent(ratio: number): string {
  return Number.isFinite(ratio) ? `${Number((ratio * 100).toPrecision(2))} %` : "far more";
}

function formatInteger(value: number): string {
  return formatCount(Math.round(value));
}
