import { formatDurationNs, usToNs } from "../plan/units.ts";
import { meanOf, percentileOf } from "./statistics.ts";
import type { TokenMetric } from "./tokens/metrics.ts";
import type { TokenColumns } from "./tokens/token-columns.ts";
import { tokenSamples } from "./tokens/token-samples.ts";
import type { WindowResult } from "./window.ts";

/** A lag above this ratio of a figure is reported. */
const MOST_RATIO = 0.05;
/** Shorter lags are ignored: timers and the JavaScript clock cannot measure them. */
const LEAST_NS = 0.1e6;

/** A time in a report. */
export interface ReportedTime {
  readonly figure: "latency" | "firstResponse" | "timeToFirstToken" | "interTokenLatency";
  readonly meanNs: number;
  readonly p99Ns: number;
  /** Number of gaps that a request's value averages; absent for times that start at the send. */
  readonly gaps?: number | undefined;
}

/** A reported time with a large share of client lag. */
export interface LagBias {
  readonly figure: ReportedTime["figure"];
  readonly statistic: "mean" | "p99";
  readonly reportedNs: number;
  /**
   * Likely effect of the lag: the time is too long by this, or, for the mean inter-token latency, each gap is off by this in either
   * direction.
   */
  readonly biasNs: number;
}

/** The client's lag in a window: late reads, and the time from the start of a request until it was sent. */
export type ClientLag = Pick<WindowResult["health"], "loopLagMeanNs" | "loopLagP99Ns" | "coreWaitRatio"> &
  Pick<WindowResult, "sendMeanNs">;

/** Returns the client's lag in a window. */
export function clientLagOf({ health, sendMeanNs }: Pick<WindowResult, "health" | "sendMeanNs">): ClientLag {
  return { ...health, sendMeanNs };
}

/**
 * Returns the times that a window's report shows.
 * @param tokens of the same requests; absent when tokens are not measured
 * @param isStreamed whether the responses were streamed
 */
export function reportedTimes(window: WindowResult, tokens?: TokenColumns, isStreamed = false): ReportedTime[] {
  const { latency, firstResponse } = window;
  const tallies = [
    ["latency", latency],
    // The first event of a stream may be empty, so the time to first token replaces it.
    ...(firstResponse === latency || tokens !== undefined ? [] : ([["firstResponse", firstResponse]] as const)),
  ] as const;
  const times: ReportedTime[] = tallies
    .filter(([, tally]) => tally.count > 0)
    .map(([figure, tally]) => ({ figure, meanNs: tally.meanNs, p99Ns: usToNs(tally.percentileUs(99)) }));
  if (tokens === undefined) return times;
  const samples = tokenSamples(tokens, isStreamed);
  const summarize = (metric: TokenMetric): Pick<ReportedTime, "meanNs" | "p99Ns"> | undefined => {
    const values = samples.get(metric);
    return values && { meanNs: meanOf(values), p99Ns: percentileOf(values.toSorted(), 99) };
  };
  const first = summarize("timeToFirstTokenNs");
  if (first !== undefined) times.push({ figure: "timeToFirstToken", ...first });
  const gap = summarize("interTokenLatencyNs");
  const counts = samples.get("outputTokens") ?? samples.get("serverOutputTokens");
  const gaps = counts === undefined ? 1 : Math.max(1, meanOf(counts) - 1);
  if (gap !== undefined) times.push({ figure: "interTokenLatency", ...gap, gaps });
  return times;
}

/** Returns the times with more than 5 % client lag: means are compared with the mean lag, 99th percentiles with its 99th percentile. */
export function judgeLag(lag: ClientLag, times: readonly ReportedTime[]): LagBias[] {
  const readNs = floorNs(lag.loopLagMeanNs);
  const sendNs = floorNs(lag.sendMeanNs);
  const worstNs = floorNs(lag.loopLagP99Ns ?? 0);
  return times.flatMap(({ figure, meanNs, p99Ns, gaps }): LagBias[] => {
    // Both ends of a gap are read late, so it is off by about one lag in either direction; a mean of n gaps by 1/n of that.
    const mean = {
      figure,
      statistic: "mean",
      reportedNs: meanNs,
      biasNs: gaps === undefined ? readNs + sendNs : readNs,
    } as const;
    const p99 = { figure, statistic: "p99", reportedNs: p99Ns, biasNs: worstNs / (gaps ?? 1) } as const;
    // A stall may be longer than a time that it did not affect: cap the effect at the time itself.
    const capped =
      gaps === undefined
        ? [mean, p99].map((one) => ({ ...one, biasNs: Math.min(one.biasNs, one.reportedNs) }))
        : [mean, p99];
    return capped.filter(({ reportedNs, biasNs }) => biasNs > MOST_RATIO * reportedNs);
  });
}

const NAMES: Readonly<Record<ReportedTime["figure"], string>> = {
  latency: "latency",
  firstResponse: "latency of the first response",
  timeToFirstToken: "time to first token",
  interTokenLatency: "inter-token latency",
};

/** Describes the lag and its effect on the affected times; undefined when there is none. Without a full stop. */
export function explainLag(lag: ClientLag, times: readonly ReportedTime[]): string | undefined {
  const biases = judgeLag(lag, times);
  if (biases.length === 0) return undefined;
  const p99 = lag.loopLagP99Ns === undefined ? "" : ` (p99 ${formatDurationNs(lag.loopLagP99Ns)})`;
  const read = `the client read responses about ${formatDurationNs(lag.loopLagMeanNs)}${p99} after they arrived`;
  const sent =
    floorNs(lag.sendMeanNs) === 0
      ? ""
      : `, and sent requests ${formatDurationNs(lag.sendMeanNs)} after they began, including new connections`;
  const wait =
    lag.coreWaitRatio === undefined || lag.coreWaitRatio < MOST_RATIO
      ? ""
      : `; it waited for a core ${Math.round(100 * lag.coreWaitRatio)} % of the time, while other processes used it`;
  return `${read}${sent}: ${biases.map(describeBias).join(", ")}${wait}; lower the load, or give the client its own core`;
}

/**
 * Returns a sentence for each window in which the client's lag affects a reported time.
 * @param tokens of the requests of all windows; used only when there is one window
 */
export function lagWarnings(windows: readonly WindowResult[], tokens: TokenColumns, isStreamed: boolean): string[] {
  const ofOne = windows.length === 1 ? tokens : undefined;
  return windows
    .map((window) => explainLag(clientLagOf(window), reportedTimes(window, ofOne, isStreamed)))
    .filter((text) => text !== undefined);
}

function describeBias({ figure, statistic, reportedNs, biasNs }: LagBias): string {
  const percent = biasNs > reportedNs ? "more than 100 %" : `${Math.round((100 * biasNs) / reportedNs)} %`;
  const share = `${formatDurationNs(biasNs)} (${percent})`;
  const name = `${statistic === "mean" ? "" : "p99 of "}${NAMES[figure]}, ${formatDurationNs(reportedNs)},`;
  if (figure === "interTokenLatency" && statistic === "mean")
    return `${name} is an average of gaps that are off by ${share} each`;
  // A delay of the whole time cannot be true of all requests: some were read at once.
  if (biasNs >= reportedNs) return `${name} is not longer than this delay and may show the client, not the server`;
  return `${name} is likely too long by ${share}`;
}

function floorNs(lagNs: number): number {
  return lagNs < LEAST_NS ? 0 : lagNs;
}
