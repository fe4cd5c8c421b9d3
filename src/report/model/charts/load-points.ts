import { nsToUs } from "../../../plan/units.ts";
import { type ReadEstimate, readMetric, readOver } from "../../json/read-metrics.ts";
import type { LevelJson } from "../../schema/report-schema.ts";
import type { CombinedLevelJson } from "../../schema/runs.ts";
import type { ChartSource } from "./chart-source.ts";

/** What was measured at each load, for charts over the load: of one run, or the means over several runs. */

export const PERCENTILES = ["p50", "p90", "p99"] as const;
export type PercentileName = (typeof PERCENTILES)[number];

/** The times of tokens that have charts. */
export const TOKEN_TIMES = ["timeToFirstToken", "interTokenLatency"] as const;

/** A value with its 95 % interval. An end is null where the sample has no bound; both are for a value without an interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
}

export type Spread = Readonly<Record<PercentileName, Estimate | undefined>>;

/** A load and what was measured at it. */
export interface LoadPoint {
  /** Requests in flight, or per second. */
  readonly load: number;
  readonly throughputPerSec: Estimate | undefined;
  readonly failedPerSec: number;
  readonly latencyUs: Spread;
  /** From the time when a request was due. */
  readonly scheduledUs: Spread;
  readonly tokensPerSec: Estimate | undefined;
  /** By the keys of their metrics. */
  readonly tokenTimesUs: Readonly<Record<string, Spread>>;
}

/** Returns the points in the order of their loads; empty where levels have no order, because they are phases. */
export function loadPointsOf({ json, runs }: ChartSource): LoadPoint[] {
  const [first] = runs;
  if (first === undefined || first.levels.some((level) => level.json.phase !== undefined)) return [];
  const points =
    "runs" in json ? json.combination.levels.map(ofRuns) : first.levels.map((level) => ofLevel(level.json));
  return points.toSorted((a, b) => a.load - b.load);
}

function ofLevel({ level, durationSec, failed, metrics }: LevelJson): LoadPoint {
  return {
    load: level,
    failedPerSec: durationSec > 0 ? failed / durationSec : 0,
    ...pointOf((key, statistic) => readMetric(metrics, key, statistic)),
  };
}

function ofRuns({ level, metrics }: CombinedLevelJson): LoadPoint {
  const read: Read = (key, statistic) => readOver(metrics, key, statistic);
  const failed = read("errorRate")?.value ?? 0;
  const perSec = read("throughput")?.value ?? 0;
  return { load: level, failedPerSec: failed >= 1 ? 0 : (perSec * failed) / (1 - failed), ...pointOf(read) };
}

type Read = (key: string, statistic?: PercentileName) => ReadEstimate | undefined;

function pointOf(read: Read): Omit<LoadPoint, "load" | "failedPerSec"> {
  const spread = (key: string): Spread => {
    const of = (name: PercentileName): Estimate | undefined => inUs(read(key, name));
    return { p50: of("p50"), p90: of("p90"), p99: of("p99") };
  };
  return {
    throughputPerSec: read("throughput"),
    latencyUs: spread("latency"),
    scheduledUs: spread("scheduledLatency"),
    tokensPerSec: read("outputTokensPerSec"),
    tokenTimesUs: Object.fromEntries(TOKEN_TIMES.map((key) => [key, spread(key)])),
  };
}

/** Converts to microseconds. A value with too few samples has no interval. */
function inUs(found: ReadEstimate | undefined): Estimate | undefined {
  if (found === undefined) return undefined;
  const { value, low, high, isReliable = true } = found;
  const end = (ns: number | null): number | null => (ns === null || !isReliable ? null : nsToUs(ns));
  return { value: nsToUs(value), low: end(low), high: end(high) };
}
