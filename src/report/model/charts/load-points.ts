import { certainEnds } from "../../../measure/intervals/certainty.ts";
import type { LevelJson } from "../../schema/report-schema.ts";
import type { CombinedLevelJson } from "../../schema/runs.ts";
import type { ChartSource } from "./chart-source.ts";

/** What was measured at each load, for charts over the load: of one run, or the means over several runs. */

export const PERCENTILES = ["p50", "p90", "p99"] as const;
export type PercentileName = (typeof PERCENTILES)[number];

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
  /** From the time when a request was due; absent where requests have none. */
  readonly scheduledUs?: Spread | undefined;
  readonly tokensPerSec?: Estimate | undefined;
  /** Times of tokens by the names of JSON. */
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

function ofLevel(json: LevelJson): LoadPoint {
  const { level, inferPerSec: value, inferPerSecLow: low, inferPerSecHigh: high, tokens } = json;
  const times = Object.entries(tokens?.metrics ?? {}).filter(([name]) => name.endsWith("Us"));
  return {
    load: level,
    throughputPerSec: { value, low, high },
    failedPerSec: json.durationSec > 0 ? json.failed / json.durationSec : 0,
    latencyUs: latencyOf(json.latency),
    ...(json.scheduledLatency === undefined ? {} : { scheduledUs: latencyOf(json.scheduledLatency) }),
    ...(tokens?.outputTokensPerSec === undefined
      ? {}
      : { tokensPerSec: { value: tokens.outputTokensPerSec, low: null, high: null } }),
    tokenTimesUs: Object.fromEntries(
      times.map(([name, found]) => [
        name,
        spread((percentile) => {
          const { low, high, isReliable } = found.confidence95[percentile];
          return withInterval(found[percentile], low, high, isReliable);
        }),
      ]),
    ),
  };
}

function latencyOf(latency: LevelJson["latency"]): Spread {
  return spread((percentile) => {
    if (latency === null) return undefined;
    const { us, lowUs, highUs, isReliable } = latency.percentiles[percentile];
    return withInterval(us, lowUs, highUs, isReliable);
  });
}

function ofRuns(json: CombinedLevelJson): LoadPoint {
  const { level, inferPerSec, errorRatio, latencyUs, scheduledLatencyUs, tokens } = json;
  const failed = errorRatio?.mean ?? 0;
  return {
    load: level,
    throughputPerSec: overRuns(inferPerSec),
    failedPerSec: failed >= 1 ? 0 : ((inferPerSec?.mean ?? 0) * failed) / (1 - failed),
    latencyUs: spread((percentile) => overRuns(latencyUs[percentile])),
    ...(scheduledLatencyUs === undefined
      ? {}
      : { scheduledUs: spread((percentile) => overRuns(scheduledLatencyUs[percentile])) }),
    ...(tokens?.outputTokensPerSec === undefined ? {} : { tokensPerSec: overRuns(tokens.outputTokensPerSec) }),
    tokenTimesUs: Object.fromEntries(
      Object.entries(tokens?.metrics ?? {})
        .filter(([name]) => name.endsWith("Us"))
        .map(([name, found]) => [name, spread((percentile) => overRuns(found[percentile]))]),
    ),
  };
}

function overRuns(over: CombinedLevelJson["inferPerSec"]): Estimate | undefined {
  return over && { value: over.mean, ...certainEnds({ value: over.mean, low: over.low, high: over.high }) };
}

/** A value with too few samples has no interval. */
function withInterval(value: number, low: number | null, high: number | null, isReliable: boolean): Estimate {
  return isReliable ? { value, low, high } : { value, low: null, high: null };
}

function spread(of: (percentile: PercentileName) => Estimate | undefined): Spread {
  return { p50: of("p50"), p90: of("p90"), p99: of("p99") };
}
