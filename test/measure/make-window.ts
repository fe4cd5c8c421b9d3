import type { Instability } from "../../src/measure/instability.ts";
import type { CompletionCounts } from "../../src/measure/intervals/throughput.ts";
import { LatencyTally } from "../../src/measure/latency-tally.ts";
import type { Measurement } from "../../src/measure/measurement.ts";
import type { ServerDelta } from "../../src/measure/server-delta.ts";

/** Windows and tallies for tests, made from plain numbers. */

/** A tally of latencies in nanoseconds. */
export function tallyOf(latenciesNs: readonly number[]): LatencyTally {
  const tally = new LatencyTally();
  tally.addAll(Float64Array.from(latenciesNs), 0, latenciesNs.length);
  return tally;
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
  readonly completions?: CompletionCounts;
}

/** A window of one second from 0 with the parts given. */
export function makeWindow(parts: WindowParts = {}): Measurement {
  const { startNs = 0, durationNs = 1e9, latenciesNs = [1e6, 2e6, 3e6] } = parts;
  const latency = tallyOf(latenciesNs);
  return {
    startNs,
    endNs: startNs + durationNs,
    durationNs,
    sendingNs: parts.sendingNs ?? durationNs,
    isScheduled: parts.scheduledNs !== undefined,
    isDecoupled: parts.firstResponseNs !== undefined,
    requestCount: latenciesNs.length,
    failedCount: parts.failedCount ?? 0,
    cancelledCount: 0,
    resentCount: parts.resentCount ?? 0,
    delayedCount: parts.delayedCount ?? 0,
    sentCount: parts.sentCount ?? latenciesNs.length,
    openBeforeCount: parts.openBeforeCount ?? 0,
    openAfterCount: parts.openAfterCount ?? 0,
    inFlightSumNs: parts.inFlightSumNs ?? latency.sumNs,
    sequenceCount: parts.sequenceCount ?? 0,
    responseCount: parts.responseCount ?? latenciesNs.length,
    latency,
    firstResponse: parts.firstResponseNs === undefined ? latency : tallyOf(parts.firstResponseNs),
    scheduledLatency: parts.scheduledNs === undefined ? latency : tallyOf(parts.scheduledNs),
    sendDelay: tallyOf(parts.sendDelayNs ?? []),
    sendMeanNs: parts.sendMeanNs ?? 0,
    receiveMeanNs: parts.receiveMeanNs ?? 0,
    overheadPct: parts.overheadPct ?? 0,
    health: { cpuRatio: 0.1, loopLagMaxNs: 0, loopLagMeanNs: 0, ...parts.health },
    server: parts.server,
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
