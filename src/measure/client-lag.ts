import { formatDurationNs } from "../plan/units.ts";
import { meanOf, percentileOf } from "./statistics.ts";
import type { TokenMetric } from "./tokens/metrics.ts";
import type { TokenColumns } from "./tokens/token-columns.ts";
import { tokenSamples } from "./tokens/token-samples.ts";
import type { WindowResult } from "./window.ts";

/**
 * Whether the client's own lag is small beside what it measures. Times that are read late are too long by the lag, and a time that counts from
 * the send contains what the client took until the request had left.
 */

/** A lag above this share of a figure is reported. */
const MOST_RATIO = 0.05;
/** Shorter lags are not judged: neither a timer nor a clock that is read in JavaScript can tell them from none. */
const LEAST_NS = 0.1e6;

/** A figure that a report shows. */
export interface ReportedTime {
  readonly figure: "latency" | "firstResponse" | "timeToFirstToken" | "interTokenLatency";
  readonly meanNs: number;
  readonly p99Ns: number;
  /** Gaps that a request's value is the mean of; absent where it counts from the send. */
  readonly gaps?: number | undefined;
}

/** A figure that the client's lag is not small beside. */
export interface LagBias {
  readonly figure: ReportedTime["figure"];
  readonly statistic: "mean" | "p99";
  readonly reportedNs: number;
  /** How much of it is likely the client's: it is too long by this, or, of the mean between tokens, each gap is wrong by this to either side. */
  readonly biasNs: number;
}

/** What the client took, of a window. */
export type ClientLag = Pick<WindowResult["health"], "loopLagMeanNs" | "loopLagP99Ns" | "coreWaitRatio"> &
  Pick<WindowResult, "sendMeanNs">;

/** What a client took in a window. */
export function clientLagOf({ health, sendMeanNs }: Pick<WindowResult, "health" | "sendMeanNs">): ClientLag {
  return { ...health, sendMeanNs };
}

/**
 * The times that are reported of a window.
 * @param tokens of the same requests; absent where none are measured
 * @param isStreamed whether their answers were streamed
 */
export function reportedTimes(window: WindowResult, tokens?: TokenColumns, isStreamed = false): ReportedTime[] {
  const { latency, firstResponse } = window;
  const tallies = [
    ["latency", latency],
    // Of answers in events the first one may be empty, and the time to first token says more.
    ...(firstResponse === latency || tokens !== undefined ? [] : ([["firstResponse", firstResponse]] as const)),
  ] as const;
  const times: ReportedTime[] = tallies
    .filter(([, tally]) => tally.count > 0)
    .map(([figure, tally]) => ({ figure, meanNs: tally.meanNs, p99Ns: tally.percentileUs(99) * 1000 }));
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

/** The figures of which more than 5 % is likely the client's own: means by the mean lag, 99th percentiles by its 99th percentile. */
export function judgeLag(lag: ClientLag, times: readonly ReportedTime[]): LagBias[] {
  const readNs = floorNs(lag.loopLagMeanNs);
  const sendNs = floorNs(lag.sendMeanNs);
  const worstNs = floorNs(lag.loopLagP99Ns ?? 0);
  return times.flatMap(({ figure, meanNs, p99Ns, gaps }): LagBias[] => {
    // Both ends of a gap are read late: they are off by about one lag, which goes up and down, and a mean of gaps by its share of that.
    const mean = {
      figure,
      statistic: "mean",
      reportedNs: meanNs,
      biasNs: gaps === undefined ? readNs + sendNs : readNs,
    } as const;
    const p99 = { figure, statistic: "p99", reportedNs: p99Ns, biasNs: worstNs / (gaps ?? 1) } as const;
    // A stall may be longer than a time that it did not meet: no time is too long by more than itself.
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

/** The lag and what it does to the figures that it is not small beside; undefined where there are none. Without a full stop. */
export function explainLag(lag: ClientLag, times: readonly ReportedTime[]): string | undefined {
  const biases = judgeLag(lag, times);
  if (biases.length === 0) return undefined;
  const p99 = lag.loopLagP99Ns === undefined ? "" : ` (p99 ${formatDurationNs(lag.loopLagP99Ns)})`;
  const read = `the client read answers about ${formatDurationNs(lag.loopLagMeanNs)}${p99} after they came`;
  const sent =
    floorNs(lag.sendMeanNs) === 0
      ? ""
      : `, and requests left ${formatDurationNs(lag.sendMeanNs)} after they began, new connections included`;
  const wait =
    lag.coreWaitRatio === undefined || lag.coreWaitRatio < MOST_RATIO
      ? ""
      : `; it waited for a core ${Math.round(100 * lag.coreWaitRatio)} % of the time, which other processes had`;
  return `${read}${sent}: ${biases.map(describeBias).join(", ")}${wait}; less load, or a core of its own for the client, would help`;
}

/**
 * A sentence for each window of a run whose figures the client's own lag is not small beside.
 * @param tokens of all windows' requests: they are judged where there is one window
 */
export function lagWarnings(windows: readonly WindowResult[], tokens: TokenColumns, isStreamed: boolean): string[] {
  const ofOne = windows.length === 1 ? tokens : undefined;
  return windows
    .map((window) => explainLag(clientLagOf(window), reportedTimes(window, ofOne, isStreamed)))
    .filter((text) => text !== undefined);
}

function describeBias({ figure, statistic, reportedNs, biasNs }: LagBias): string {
  const share = `${formatDurationNs(biasNs)} (${Math.round((100 * biasNs) / reportedNs)} %)`;
  const name = `${statistic === "mean" ? "" : "p99 of "}${NAMES[figure]}, ${formatDurationNs(reportedNs)},`;
  if (figure === "interTokenLatency" && statistic === "mean")
    return `${name} is made of gaps that are off by ${share} each`;
  return `${name} is likely too long by ${share}`;
}

function floorNs(lagNs: number): number {
  return lagNs < LEAST_NS ? 0 : lagNs;
}
