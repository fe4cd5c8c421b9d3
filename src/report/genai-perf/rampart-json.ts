import { lateCount } from "../../measure/derived-values.ts";
import { estimateMean, estimateMeanNs } from "../../measure/intervals/mean-interval.ts";
import {
  estimatePercentile,
  type PercentileEstimate,
  percentileEstimator,
} from "../../measure/intervals/percentile-interval.ts";
import { latencyOf, type Measurement, sendDelayOf } from "../../measure/measurement.ts";
import { PERCENTILES, summarize } from "../../measure/numpy-statistics.ts";
import type { Sketch } from "../../measure/sketch.ts";
import { isTimeMetric, nameOfMetric, type TokenMetric } from "../../measure/tokens/metrics.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import { countUnmarkedEnds } from "../../measure/tokens/token-warnings.ts";
import { epochNsToIsoTime, nsToMs, nsToSec, nsToUs, usToMs } from "../../plan/units.ts";
import type { FailureCount, RunResult } from "../../result/run-result.ts";
import { VERSION } from "../../runtime/version.ts";
import { isCancelled } from "../../transport/failure.ts";
import { toMetricConfidence } from "../json/confidence.ts";
import { toClientJson, toDeliveryJson, toInFlightJson } from "../json/level-parts.ts";
import { type Measured, windowsOf } from "./measured.ts";
import type { GenaiOutputs } from "./outputs.ts";
import type { RunSummary } from "./run-summary.ts";

/** Rampart's own file of a run, `profile_export_genai_perf_rampart.json`: all measurements, with units in the names. */

/** What the file is made of. */
export type RampartJsonParts = Pick<Measured, "summary" | "columns" | "run"> & {
  readonly about: Pick<GenaiOutputs, "endpointType" | "goodput"> & {
    readonly models: readonly string[];
    readonly isStreaming: boolean;
  };
};

/** Formats the file. Leaves out what was not measured. @param warnings about numbers that can mislead; whole sentences */
export function formatRampartJson(
  { summary, columns, run, about }: RampartJsonParts,
  warnings: readonly string[],
): string {
  const { models, endpointType, isStreaming, goodput } = about;
  const document = {
    version: 2,
    rampart: VERSION,
    models,
    endpointType,
    isStreaming,
    ...(run === undefined ? {} : describeRun(run)),
    requests: {
      ...summary.counts,
      measured: columns.count,
      withoutContent: columns.emptyCount,
      withoutEndMark: countUnmarkedEnds(columns),
    },
    ...(run?.warmup === undefined ? {} : { warmup: { sent: run.warmup.sentCount, failed: run.warmup.failedCount } }),
    failures: listFailures(columns, run),
    ...(run?.sessions === undefined ? {} : { sessions: run.sessions }),
    system: toSystemJson(summary, goodput),
    metrics: Object.fromEntries([...summary.samples].map(([metric, values]) => toMetricJson(metric, values))) as object,
    ...(run === undefined ? {} : { levels: toLevelsJson(run) }),
    warnings,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function describeRun(run: RunResult): object {
  const { error } = run;
  return {
    startedAt: epochNsToIsoTime(run.startEpochNs),
    runDurationSec: nsToSec(run.durationNs),
    isPartial: run.isInterrupted || error !== undefined,
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    connections: run.connectionCount,
    ...(run.resendCount === 0 ? {} : { resent: run.resendCount }),
    ...(run.servers === undefined
      ? {}
      : {
          servers: run.servers.map(({ name, sentCount, failedCount }) => ({
            name,
            sent: sentCount,
            failed: failedCount,
          })),
        }),
  };
}

type ListedFailure = Omit<FailureCount, "isWarmup"> & { readonly isWarmup: boolean; readonly isCancelled: boolean };

/** Lists failures. Those detected only when the response was read are last. */
function listFailures({ failedCount, failureExample }: TokenColumns, run: RunResult | undefined): ListedFailure[] {
  const listed = (run?.failures ?? []).map((failure) => ({
    ...failure,
    isWarmup: failure.isWarmup === true,
    isCancelled: isCancelled(failure),
  }));
  const example = failureExample ?? "";
  const unread = { kind: "model", count: failedCount, example, status: undefined, isWarmup: false, isCancelled: false };
  return failedCount === 0 ? listed : [...listed, unread as ListedFailure];
}

function toSystemJson(
  { samples, system, errorRatio, goodRatio }: RunSummary,
  goodput: GenaiOutputs["goodput"],
): object {
  const { durationNs, requestsPerSec, outputTokensPerSec, effectiveConcurrency } = system;
  return {
    /** From the first send to the last content. */
    durationSec: nsToSec(durationNs),
    throughputPerSec: requestsPerSec,
    ...(samples.has("outputTokens") ? { outputTokensPerSec } : {}),
    totalTokensPerSec: system.totalTokensPerSec,
    serverTokensPerSec: system.serverTokensPerSec,
    effectiveConcurrency,
    errorRateRatio: errorRatio,
    goodRatio,
    ...(goodRatio === undefined ? {} : { goodputLimits: goodput }),
  };
}

/** Percentiles that GenAI-Perf does not have. */
const TAIL_PERCENTILES = [99.9, 99.99] as const;

/** The average and percentiles have a 95 % confidence interval, in `confidence95`. */
function toMetricJson(metric: TokenMetric, values: Float64Array): [string, object] {
  const isTime = isTimeMetric(metric);
  const scale = (value: number): number => (isTime ? nsToMs(value) : value);
  const estimate = percentileEstimator(values);
  const statistics = Object.entries(summarize(values) ?? {}).map(([name, value]) => [name, scale(value)] as const);
  const percentiles = [...PERCENTILES, ...TAIL_PERCENTILES];
  const found = toMetricConfidence(estimateMean(values), percentiles, estimate, scale);
  return [
    metric === "requestLatencyNs" ? "latencyMs" : isTime ? `${nameOfMetric(metric)}Ms` : metric,
    {
      count: values.length,
      ...found.percentiles,
      ...Object.fromEntries(statistics),
      confidence95: { avg: found.mean, ...found.intervals },
    },
  ];
}

function toLevelsJson(run: RunResult): object[] {
  const windows = windowsOf(run);
  return run.levels.map((level, at) => ({
    ...toLevelJson(level, level.window),
    load: toDeliveryJson(run.prepared.plan, level),
    client: toClientJson(windows[at] as Measurement),
  }));
}

/** How well the load was maintained, and its cost for the client. */
function toLevelJson(
  { unit, level, outcome, trials }: Omit<RunResult["levels"][number], "window">,
  window: Measurement,
): object {
  const isScheduled = window.isScheduled;
  return {
    unit,
    level,
    outcome,
    trials,
    durationSec: nsToSec(window.durationNs),
    completed: window.requestCount,
    failed: window.failedCount,
    cancelled: window.cancelledCount,
    delayed: lateCount(window),
    sent: window.sentCount,
    inFlight: toInFlightJson(window),
    ...(isScheduled
      ? {
          scheduledLatencyMs: toTallyJson(latencyOf(window, "scheduledLatency")),
          sendDelayMs: toTallyJson(sendDelayOf(window)),
        }
      : {}),
  };
}

function toTallyJson(tally: Sketch): object {
  if (tally.count === 0) return { count: 0 };
  const percentiles = [...PERCENTILES, ...TAIL_PERCENTILES];
  const { value, ...mean } = estimateMeanNs(tally);
  const meanUs = {
    ...mean,
    value: nsToUs(value),
    low: mean.low && nsToUs(mean.low),
    high: mean.high && nsToUs(mean.high),
  };
  const estimate = (percentile: number): PercentileEstimate => estimatePercentile(tally, percentile);
  const found = toMetricConfidence(meanUs, percentiles, estimate, usToMs);
  return {
    count: tally.count,
    avg: nsToMs(tally.mean),
    ...found.percentiles,
    min: nsToMs(tally.min),
    max: nsToMs(tally.max),
    confidence95: { avg: found.mean, ...found.intervals },
  };
}
