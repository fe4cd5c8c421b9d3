import type { CompletionGap } from "../../src/measure/completion-gaps.ts";
import type { Instability } from "../../src/measure/instability.ts";
import type { CompletionBins } from "../../src/measure/intervals/time-bins.ts";
import type { Measurement } from "../../src/measure/measurement.ts";
import type { ServerDelta } from "../../src/measure/server-delta.ts";
import { type Sketch, sumOfValues } from "../../src/measure/sketch.ts";
import { BinTally } from "../../src/measure/tally/bin-tally.ts";
import { DurationTally } from "../../src/measure/tally/duration-tally.ts";
import type { TokenMeasurement } from "../../src/measure/tokens/token-measurement.ts";

/** Windows and sketches for tests, made from plain numbers. */

/** A sketch of latencies in nanoseconds, which end at equal distances in a time. */
export function tallyOf(latenciesNs: ArrayLike<number>, startNs = 0, durationNs = 1e9): Sketch {
  const { length } = latenciesNs;
  const endsNs = Float64Array.from({ length }, (_, at) => startNs + (durationNs * (at + 0.5)) / length);
  return sketchAt(latenciesNs, endsNs, startNs, startNs + durationNs);
}

/** A sketch of latencies in nanoseconds, by the times when they end. */
export function sketchAt(
  latenciesNs: ArrayLike<number>,
  endsNs: ArrayLike<number>,
  startNs: number,
  endNs: number,
): Sketch {
  const bins = new BinTally();
  const tally = new DurationTally(bins.newChannel("times"));
  for (let at = 0; at < latenciesNs.length; at += 1024) {
    const chunk = (values: ArrayLike<number>) => Float64Array.from(Array.prototype.slice.call(values, at, at + 1024));
    const latencies = chunk(latenciesNs);
    tally.addAll(latencies, latencies.length, bins.addAll(chunk(endsNs), latencies.length));
  }
  return tally.toSketch(tally.channel && bins.cut(startNs, endNs).samplesOf(tally.channel));
}

/** A sketch of latencies whose times are not known. */
export function sketchWithoutTimes(latenciesNs: readonly number[]): Sketch {
  const tally = new DurationTally();
  tally.addAll(Float64Array.from(latenciesNs), latenciesNs.length);
  return tally.toSketch();
}

/** Requests by the time when they ended. */
export function completionsAt(
  endsNs: Iterable<number>,
  startNs: number,
  endNs: number,
  failedNs: Iterable<number> = [],
): CompletionBins {
  const bins = new BinTally();
  for (const atNs of endsNs) bins.add(atNs);
  for (const atNs of failedNs) bins.addFailed(atNs);
  return bins.cut(startNs, endNs).completions;
}

/** Bins that are measured whole. */
export function completionBins(
  binNs: number,
  counts: readonly number[],
  { first = 0, failed }: { readonly first?: number; readonly failed?: readonly number[] } = {},
): CompletionBins {
  return { binNs, first, counts, coveredNs: counts.map(() => binNs), ...(failed === undefined ? {} : { failed }) };
}

/** What a window is made of; everything has a default. */
export interface WindowParts {
  readonly startNs?: number;
  readonly durationNs?: number;
  readonly latenciesNs?: readonly number[];
  /** Present for scheduled loads. */
  readonly scheduledNs?: readonly number[];
  /** Present for models with several responses per request. */
  readonly firstResponseNs?: readonly number[];
  readonly sequenceCount?: number;
  readonly responseCount?: number;
  readonly failedCount?: number;
  readonly resentCount?: number;
  readonly delayedCount?: number;
  readonly sendDelayNs?: readonly number[];
  readonly sentCount?: number;
  /** Default: the whole window. */
  readonly sendingNs?: number;
  readonly openBeforeCount?: number;
  readonly openAfterCount?: number;
  /** Default: as Little's law has it. */
  readonly inFlightSumNs?: number;
  readonly sendMeanNs?: number;
  readonly receiveMeanNs?: number;
  readonly overheadPct?: number;
  readonly health?: Partial<Measurement["health"]>;
  readonly server?: ServerDelta;
  /** Default: not measured. */
  readonly tokens?: TokenMeasurement | undefined;
  /** Default: true. */
  readonly isStreamed?: boolean;
  readonly gaps?: readonly CompletionGap[];
  readonly completions?: CompletionBins;
}

/** A window of one second from 0 with the parts given. */
export function makeWindow(parts: WindowParts = {}): Measurement {
  const { startNs = 0, durationNs = 1e9, latenciesNs = [1e6, 2e6, 3e6] } = parts;
  const latency = tallyOf(latenciesNs, startNs, durationNs);
  const others = (values: readonly number[] | undefined) => values && tallyOf(values, startNs, durationNs);
  const [firstResponse, scheduledLatency] = [others(parts.firstResponseNs), others(parts.scheduledNs)];
  const sendDelay = others(parts.sendDelayNs ?? (parts.scheduledNs && []));
  return {
    startNs,
    endNs: startNs + durationNs,
    windowCount: 1,
    durationNs,
    sendingNs: parts.sendingNs ?? durationNs,
    isScheduled: parts.scheduledNs !== undefined,
    isDecoupled: parts.firstResponseNs !== undefined,
    isStreamed: parts.isStreamed ?? true,
    requestCount: latenciesNs.length,
    failedCount: parts.failedCount ?? 0,
    cancelledCount: 0,
    resentCount: parts.resentCount ?? 0,
    delayedCount: parts.delayedCount ?? 0,
    sentCount: parts.sentCount ?? latenciesNs.length,
    openBeforeCount: parts.openBeforeCount ?? 0,
    openAfterCount: parts.openAfterCount ?? 0,
    inFlightSumNs: parts.inFlightSumNs ?? sumOfValues(latency),
    sequenceCount: parts.sequenceCount ?? 0,
    responseCount: parts.responseCount ?? latenciesNs.length,
    betweenCount: (parts.responseCount ?? latenciesNs.length) - latenciesNs.length,
    betweenSumNs: sumOfValues(latency) - sumOfValues(firstResponse ?? latency),
    latency,
    ...(firstResponse === undefined ? {} : { firstResponse }),
    ...(scheduledLatency === undefined ? {} : { scheduledLatency }),
    ...(sendDelay === undefined ? {} : { sendDelay }),
    sendMeanNs: parts.sendMeanNs ?? 0,
    receiveMeanNs: parts.receiveMeanNs ?? 0,
    laneNs: durationNs,
    overheadPct: parts.overheadPct ?? 0,
    health: { cpuRatio: 0.1, loopLagMaxNs: 0, loopLagMeanNs: 0, ...parts.health },
    ...(parts.server === undefined ? {} : { server: parts.server }),
    ...(parts.tokens === undefined ? {} : { tokens: parts.tokens }),
    ...(parts.gaps === undefined ? {} : { gaps: parts.gaps }),
    ...(parts.completions === undefined ? {} : { completions: parts.completions }),
  };
}

/** Windows 8 to 10 of a level whose latency moved by 40 %, with 10 % allowed. */
export function makeInstability(change: Partial<Instability> = {}): Instability {
  return {
    throughputRatio: 0.05,
    latencyRatio: 0.4,
    toleranceRatio: 0.1,
    trials: 10,
    windows: [
      { inferPerSec: 100, latencyNs: 1e6, requestCount: 200 },
      { inferPerSec: 110, latencyNs: 1.4e6, requestCount: 220 },
      { inferPerSec: 104, latencyNs: 1.1e6, requestCount: 208 },
    ],
    isThroughputOnly: false,
    ...change,
  };
}

/** A change of a server's counters: `count` successes, each of so many nanoseconds per stage. */
export function makeDelta(count: number, change: Partial<ServerDelta> = {}): ServerDelta {
  return {
    name: "simple",
    version: "1",
    hasManyVersions: false,
    composing: [],
    inferenceCount: count,
    executionCount: count,
    successCount: count,
    successNs: count * 100_000,
    failCount: 0,
    queueCount: count,
    queueNs: count * 10_000,
    computeInputCount: count,
    computeInputNs: count * 5_000,
    computeInferCount: count,
    computeInferNs: count * 50_000,
    computeOutputCount: count,
    computeOutputNs: count * 5_000,
    cacheHitCount: 0,
    cacheHitNs: 0,
    cacheMissCount: 0,
    cacheMissNs: 0,
    ...change,
  };
}
