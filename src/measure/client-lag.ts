import { formatDurationNs, formatPct } from "../plan/units.ts";
import { latencyOf, type Measurement } from "./measurement.ts";
import { percentileAt } from "./sketch.ts";
import type { TokenMetric } from "./tokens/metrics.ts";
import { shownSketches } from "./tokens/token-measurement.ts";

/**
 * Reports whether the client was so late that its times may show it. The client's part of a latency cannot be measured: no
 * runtime reports when a response arrived, a timer's lag is a mean over time and not over requests, and percentiles do not add
 * up. So the report describes only how late the client was, and says nothing about the latency.
 */

/** A lag above this ratio of a reported time is reported. */
const MOST_RATIO = 0.05;
/** Shorter lags are ignored: timers and the JavaScript clock cannot measure them. */
const LEAST_NS = 0.1e6;

export interface ReportedTime {
  readonly figure: "latency" | "firstResponse" | "timeToFirstToken" | "interTokenLatency";
  readonly meanNs: number;
  readonly p99Ns: number;
  /** Number of gaps of which a request's value is the mean; absent for times that start at the send. */
  readonly gaps?: number | undefined;
}

/** Lag of the client in a window, and the time from the start of a request until it was sent. */
export type ClientLag = Pick<Measurement["health"], "cpuRatio" | "loopLagMeanNs" | "loopLagP99Ns" | "coreWaitRatio"> &
  Pick<Measurement, "sendMeanNs">;

/** Returns the client's lag in a window. */
export function clientLagOf({ health, sendMeanNs }: Pick<Measurement, "health" | "sendMeanNs">): ClientLag {
  return { ...health, sendMeanNs };
}

export function reportedTimes(window: Measurement): ReportedTime[] {
  const { isDecoupled, latency, tokens } = window;
  const tallies = [
    ["latency", latency],
    // The first event of a stream may be empty, so the time to first token replaces it.
    ...(!isDecoupled || tokens !== undefined ? [] : ([["firstResponse", latencyOf(window, "firstResponse")]] as const)),
  ] as const;
  const times: ReportedTime[] = tallies
    .filter(([, tally]) => tally.count > 0)
    .map(([figure, tally]) => ({ figure, meanNs: tally.mean, p99Ns: percentileAt(tally, 99) }));
  const samples = shownSketches(window);
  const summarize = (metric: TokenMetric): Pick<ReportedTime, "meanNs" | "p99Ns"> | undefined => {
    const sample = samples.get(metric);
    return sample && { meanNs: sample.mean, p99Ns: percentileAt(sample, 99) };
  };
  const first = summarize("timeToFirstTokenNs");
  if (first !== undefined) times.push({ figure: "timeToFirstToken", ...first });
  const gap = summarize("interTokenLatencyNs");
  const counts = samples.get("outputTokens") ?? samples.get("serverOutputTokens");
  const gaps = counts === undefined ? 1 : Math.max(1, counts.mean - 1);
  if (gap !== undefined) times.push({ figure: "interTokenLatency", ...gap, gaps });
  return times;
}

/** Describes how late the client was, and what to do; undefined if it does not matter for these times. Without a full stop. */
export function explainLag(lag: ClientLag, times: readonly ReportedTime[]): string | undefined {
  if (!times.some((time) => mayShow(lag, time))) return undefined;
  const { coreWaitRatio = 0, loopLagMeanNs, loopLagP99Ns, sendMeanNs } = lag;
  const p99 = loopLagP99Ns === undefined ? "" : ` (p99 ${formatDurationNs(loopLagP99Ns)})`;
  const facts = [
    ...(coreWaitRatio < MOST_RATIO
      ? []
      : [`waited for a core ${formatPct(coreWaitRatio, "whole")} of the time, while other processes used it`]),
    ...(floorNs(loopLagMeanNs) + floorNs(loopLagP99Ns ?? 0) === 0
      ? []
      : [`woke up about ${formatDurationNs(loopLagMeanNs)}${p99} late`]),
    ...(floorNs(sendMeanNs) === 0
      ? []
      : [`took ${formatDurationNs(sendMeanNs)} to send a request, including new connections and waits for the server`]),
  ];
  return `the client ${facts.join(", and ")}: its times may include that; stop other processes, give the client its own core, or lower the load`;
}

/**
 * Reports whether a lag can be more than 5 % of a time. A mean contains at most the ratio of time in which the client worked or
 * waited, because each moment delays only the requests in flight; and about the mean lag, if responses arrive at random times.
 * A long request also waits for the server to accept it, and the client does nothing meanwhile. A 99th percentile changes if
 * the lag makes a usual request longer than it.
 */
function mayShow(lag: ClientLag, { meanNs, p99Ns, gaps }: ReportedTime): boolean {
  const { cpuRatio, coreWaitRatio } = lag;
  const readNs = floorNs(lag.loopLagMeanNs);
  // Both ends of a gap are reads, which are delayed. No send is involved.
  const sendNs = gaps === undefined ? floorNs(lag.sendMeanNs) : 0;
  const lateRatio = coreWaitRatio === undefined ? 1 : cpuRatio + coreWaitRatio;
  if (Math.min(readNs + sendNs, lateRatio * meanNs) > MOST_RATIO * meanNs) return true;
  const worstNs = floorNs(lag.loopLagP99Ns ?? 0) / (gaps ?? 1);
  return worstNs > 0 && meanNs + worstNs > (1 + MOST_RATIO) * p99Ns;
}

/** Returns a sentence for each window in which the client's lag affects a reported time. */
export function lagWarnings(windows: readonly Measurement[]): string[] {
  return windows
    .map((window) => explainLag(clientLagOf(window), reportedTimes(window)))
    .filter((text) => text !== undefined);
}

function floorNs(lagNs: number): number {
  return lagNs < LEAST_NS ? 0 : lagNs;
}
