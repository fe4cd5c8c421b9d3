import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { estimateMeanNs } from "../../measure/intervals/mean-interval.ts";
import { estimatePercentile, REPORTED_PERCENTILES } from "../../measure/intervals/percentile-interval.ts";
import { createHistogram, recordUs } from "../../measure/latency-histogram.ts";
import type { LatencyTally } from "../../measure/latency-tally.ts";
import {
  errorRatio,
  inferPerSec,
  lateCount,
  meanGapNs,
  responsesPerSec,
  sentPerSec,
  sequencesPerSec,
} from "../../measure/metrics.ts";
import { judge } from "../../measure/verdicts.ts";
import type { WindowResult } from "../../measure/window.ts";
import type { Plan } from "../../plan/plan.ts";
import { withoutSecrets } from "../../plan/secrets.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import { judgedLevels, measuredLevels } from "../../result/judged-levels.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import { describeMachine } from "../../runtime/machine.ts";
import { toDeliveryJson } from "../load-delivery.ts";
import { describeRepeats } from "../load-notes.ts";
import type { Report, TextSink } from "../report.ts";
import { REPORT_VERSION } from "../schema/version.ts";
import { VERSION } from "../version.ts";
import { writeReport } from "../write-report.ts";
import { toClientJson } from "./client.ts";
import { toExtractedJson } from "./extracted.ts";
import { toFindMaxJson, toLimitsJson } from "./find-max.ts";
import { toGpuJson } from "./gpus.ts";
import { toInFlightJson } from "./in-flight.ts";
import { toMlperfJson } from "./mlperf.ts";
import { toParametersJson } from "./parameters.ts";
import { toTokensJson } from "./tokens.ts";

/** Rampart's own report for programs. Units are in the names; latencies also come as HDR histograms, which can be merged. */

const SIGNIFICANT_DIGITS = 3;

/** Creates the report. @param path of its file */
export function createJsonReport(plan: Plan, _sink: TextSink, path: string): Report {
  return {
    finish: (result) =>
      writeReport(path, `${JSON.stringify(toReportJson(plan, result), null, 2)}\n`, "outputs.files.json"),
  };
}

/** Converts the report to JSON. */
export function toReportJson(plan: Plan, result: RunResult): object {
  const levels = measuredLevels(result);
  const repeats = describeRepeats(result);
  return {
    version: REPORT_VERSION,
    name: plan.name,
    ...toParametersJson(plan),
    startedAt: new Date(Number(result.startEpochNs / 1_000_000n)).toISOString(),
    durationSec: result.durationNs / 1e9,
    isPartial: result.isInterrupted || result.error !== undefined,
    ...(result.error === undefined ? {} : { error: { code: result.error.code, message: result.error.message } }),
    machine: { ...describeMachine(), rampart: VERSION },
    model: { name: result.prepared.service.model.name, version: result.prepared.service.model.version },
    requests: {
      sent: result.sentCount,
      completed: result.completedCount,
      failed: result.failedCount,
      ...(result.cancelledCount === 0 ? {} : { cancelled: result.cancelledCount }),
      ...(result.resendCount === 0 ? {} : { resent: result.resendCount }),
    },
    ...(result.warmup === undefined
      ? {}
      : { warmup: { sent: result.warmup.sentCount, failed: result.warmup.failedCount } }),
    connections: result.connectionCount,
    ...(result.servers === undefined
      ? {}
      : {
          servers: result.servers.map(({ name, sentCount, failedCount }) => ({
            name,
            sent: sentCount,
            failed: failedCount,
          })),
        }),
    failures: result.failures,
    ...(result.sessions === undefined ? {} : { sessions: result.sessions }),
    ...(repeats === undefined ? {} : { warnings: [repeats] }),
    ...(result.server === undefined ? {} : { server: result.server }),
    ...(result.findMax === undefined ? {} : { findMax: toFindMaxJson(plan, result.findMax) }),
    levels: levels.map((level) => toLevelJson(plan, level)),
    assertions: plan.assertions.map((assertion) => {
      const { isMet, level, measured, reason, text } = judge(
        assertion,
        judgedLevels(result),
        plan.target.batchSize,
        targetKindOf(plan.target).throughputUnit,
      );
      return { text, isMet, level, measured, reason, limit: assertion.limit };
    }),
    plan: withoutSecrets(plan),
  };
}

function toLevelJson(plan: Plan, result: LevelResult): object {
  const {
    unit,
    level,
    outcome,
    window,
    trials,
    instability,
    isLatencyUnstable,
    timeline,
    delayedByLimit,
    tokens,
    repeats,
  } = result;
  return {
    unit,
    level,
    outcome,
    trials,
    ...(instability === undefined ? {} : { instability }),
    ...(isLatencyUnstable ? { isLatencyUnstable } : {}),
    ...(result.limits === undefined ? {} : { limits: toLimitsJson(result.limits) }),
    ...(result.mlperf === undefined ? {} : { mlperf: toMlperfJson(result.mlperf) }),
    ...(repeats === undefined ? {} : { repeats: repeats.map((repeat) => toRepeatJson(plan, repeat)) }),
    durationSec: window.durationNs / 1e9,
    requests: window.requestCount,
    failed: window.failedCount,
    ...(window.cancelledCount === 0 ? {} : { cancelled: window.cancelledCount }),
    delayed: lateCount(window),
    ...(delayedByLimit === undefined
      ? {}
      : { delayedByLimit: { requests: delayedByLimit.count, longestMs: delayedByLimit.longestNs / 1e6 } }),
    inferPerSec: inferPerSec(window, plan.target.batchSize),
    sent: window.sentCount,
    sentPerSec: sentPerSec(window),
    load: toDeliveryJson(plan, result),
    inFlight: toInFlightJson(window),
    errorRatio: errorRatio(window),
    ...(window.sequenceCount === 0
      ? {}
      : { sequences: window.sequenceCount, sequencesPerSec: sequencesPerSec(window) }),
    latency: toLatencyJson(window.latency),
    ...(window.firstResponse === window.latency
      ? {}
      : {
          responses: window.responseCount,
          responsesPerSec: responsesPerSec(window),
          firstResponse: toLatencyJson(window.firstResponse),
          ...toGapJson(window),
        }),
    ...(window.scheduledLatency === window.latency
      ? {}
      : { scheduledLatency: toLatencyJson(window.scheduledLatency), sendDelay: toLatencyJson(window.sendDelay) }),
    client: toClientJson(window, tokens, plan.measurement.tokens?.isStreamed),
    ...(window.server === undefined ? {} : { server: window.server }),
    ...(tokens === undefined
      ? {}
      : { tokens: toTokensJson(tokens, window, plan.measurement.tokens?.isStreamed === true) }),
    ...(window.gpu === undefined ? {} : { metrics: toGpuJson(window.gpu) }),
    ...(window.extracted === undefined ? {} : { extracted: toExtractedJson(window.extracted) }),
    timeline: timeline.map((bucket) => ({
      startSec: bucket.startNs / 1e9,
      endSec: bucket.endNs / 1e9,
      requests: bucket.requestCount,
      failed: bucket.failedCount,
      outstandingMean: bucket.meanOutstanding,
      latencyMeanUs: bucket.latency.meanNs / 1000,
      latencyP99Us: bucket.requestCount === 0 ? null : bucket.latency.percentileUs(99),
    })),
  };
}

/** Converts the time between responses; nothing where no request has two. */
function toGapJson(window: WindowResult): object {
  const gapNs = meanGapNs(window);
  return gapNs === undefined ? {} : { betweenResponsesMeanUs: gapNs / 1000 };
}

/** Converts another measurement of a level to JSON. */
function toRepeatJson({ target }: Plan, { outcome, trials, window }: LevelResult): object {
  return {
    outcome,
    trials,
    durationSec: window.durationNs / 1e9,
    requests: window.requestCount,
    failed: window.failedCount,
    inferPerSec: inferPerSec(window, target.batchSize),
    latencyMeanUs: window.requestCount === 0 ? null : window.latency.meanNs / 1000,
    latencyP99Us: window.requestCount === 0 ? null : window.latency.percentileUs(99),
  };
}

function toLatencyJson(tally: LatencyTally): object | null {
  if (tally.count === 0) return null;
  const mean = estimateMeanNs(tally);
  const percentiles = REPORTED_PERCENTILES.map((percentile) => {
    const { value, low, high, ...sample } = estimatePercentile(tally, percentile);
    return [`p${percentile}`, { us: value, lowUs: low, highUs: high, ...sample }];
  });
  return {
    count: tally.count,
    effectiveCount: mean.effectiveCount,
    meanUs: mean.value / 1000,
    meanLowUs: mean.low === null ? null : mean.low / 1000,
    meanHighUs: mean.high === null ? null : mean.high / 1000,
    deviationUs: tally.deviationNs === undefined ? null : tally.deviationNs / 1000,
    minUs: tally.minNs / 1000,
    maxUs: tally.maxNs / 1000,
    percentiles: Object.fromEntries(percentiles) as object,
    hdrHistogramUs: encodeHistogram(tally),
  };
}

/** Encodes latencies in microseconds as a compressed HDR histogram in base64, the format of HdrHistogram's tools. */
function encodeHistogram(tally: LatencyTally): string {
  const histogram = createHistogram(SIGNIFICANT_DIGITS);
  tally.forEach((us, count) => {
    recordUs(histogram, us, count);
  });
  return encodeIntoCompressedBase64(histogram);
}
