import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import type { CompletionGap } from "../../measure/gaps/completion-gaps.ts";
import { splitByAllTags, splitByTag, type TaggedPart, tagNamesOf } from "../../measure/groups.ts";
import { estimateMeanNs } from "../../measure/intervals/mean-interval.ts";
import { estimatePercentile, REPORTED_PERCENTILES } from "../../measure/intervals/percentile-interval.ts";
import { throughputInterval } from "../../measure/intervals/throughput.ts";
import { createHistogram, recordUs } from "../../measure/latency-histogram.ts";
import type { LatencyTally } from "../../measure/latency-tally.ts";
import type { Measurement } from "../../measure/measurement.ts";
import {
  errorRatio,
  inferPerSec,
  lateCount,
  meanGapNs,
  responsesPerSec,
  sentPerSec,
  sequencesPerSec,
} from "../../measure/metrics.ts";
import type { Verdict } from "../../measure/verdicts.ts";
import type { Plan } from "../../plan/plan.ts";
import { withoutSecrets } from "../../plan/secrets.ts";
import { epochNsToIsoTime, nsToMs, nsToSec, nsToUs } from "../../plan/units.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import { measuredLevels } from "../../result/judged-levels.ts";
import { completeRuns, type RepeatedResult } from "../../result/repeated-result.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import { describeMachine } from "../../runtime/machine.ts";
import { toDeliveryJson } from "../notes/load-delivery.ts";
import { describeRepeats, warnOfResends } from "../notes/load-notes.ts";
import { makeNotes, type NoteOptions } from "../notes/make-notes.ts";
import type { Report, TextSink } from "../report.ts";
import { judgeAssertions, judgeRepeated } from "../run-verdicts.ts";
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
import { toPhasesJson } from "./phases.ts";
import { toCombinationJson } from "./runs.ts";
import { toTokensJson } from "./tokens.ts";

/** Rampart's own report for programs. Units are in the names; latencies also come as HDR histograms, which can be merged. */

const SIGNIFICANT_DIGITS = 3;

/** Creates the report. @param path of its file */
export function createJsonReport(plan: Plan, sink: TextSink, path: string): Report {
  const write = (document: object): void =>
    writeReport(path, `${JSON.stringify(document, null, 2)}\n`, "outputs.files.json");
  return {
    finish: (result) => write(toReportJson(plan, result, { word: sink.word })),
    finishRuns: (repeated) => write(toRepeatedJson(plan, repeated, { word: sink.word })),
  };
}

/** Converts the report to JSON. */
export function toReportJson(plan: Plan, result: RunResult, options: NoteOptions = {}): object {
  const notes = makeNotes(plan, [result], options);
  return { ...toHeadJson(plan, result), notes, ...toRunJson(plan, result), plan: withoutSecrets(plan) };
}

/**
 * Converts the report of a repeated plan to JSON. `runs` has an object for each run, with the same fields as the report of one run, without
 * `version`, `name`, `model` and `plan`, which are outside. So a reader of runs reads `document.runs ?? [document]`.
 *
 * `combination` has what the runs give together: `runs`, how many of them ended as planned and so count, and `levels`. At each level,
 * `inferPerSec`, `errorRatio`, `latencyUs.p99` and so on are the mean over the values of the runs with its 95 % interval (`low`, `high`),
 * the `deviation` between runs, that within runs, and their ratio; see `OverRuns`. `assertions` judge these means. A search has `findMax`:
 * the highest load over the runs whose answer is certain, what was measured at it, and the runs without an answer.
 */
export function toRepeatedJson(plan: Plan, repeated: RepeatedResult, options: NoteOptions = {}): object {
  const { runs, precision } = repeated;
  const [first] = runs as [RunResult];
  const complete = completeRuns(repeated);
  const { atLeast, atMost, until } = plan.repeat ?? { atLeast: runs.length, atMost: runs.length };
  return {
    ...toHeadJson(plan, first),
    notes: makeNotes(plan, runs, options),
    startedAt: toIsoTime(first),
    durationSec: nsToSec(runs.reduce((sum, { durationNs }) => sum + durationNs, 0)),
    isPartial: complete.length < runs.length,
    repeat: {
      atLeast,
      atMost,
      ...(until === undefined
        ? {}
        : { until: { ...until, reachedRatio: precision?.ratio ?? null, isReached: precision?.isReached === true } }),
    },
    runs: runs.map((run) => toRunJson(plan, run)),
    combination: toCombinationJson(plan, repeated),
    assertions: judgeRepeated(plan, repeated).map((verdict) => ({
      ...toAssertionJson(verdict),
      low: verdict.low,
      high: verdict.high,
      runs: verdict.runCount,
      runsMet: verdict.metCount,
    })),
    plan: withoutSecrets(plan),
  };
}

function toHeadJson(plan: Plan, { prepared }: RunResult): object {
  const { name, version } = prepared.service.model;
  const machine = { ...describeMachine(), rampart: VERSION };
  return { version: REPORT_VERSION, name: plan.name, ...toParametersJson(plan), machine, model: { name, version } };
}

function toIsoTime({ startEpochNs }: RunResult): string {
  return epochNsToIsoTime(startEpochNs);
}

/** Converts one run: all that can differ between the runs of a plan. */
function toRunJson(plan: Plan, result: RunResult): object {
  const levels = measuredLevels(result);
  const warnings = [describeRepeats(result), warnOfResends(result)].filter((text) => text !== undefined);
  const { seed = 0 } = result.prepared.plan;
  return {
    startedAt: toIsoTime(result),
    ...(plan.repeat === undefined && seed === 0 ? {} : { seed }),
    durationSec: nsToSec(result.durationNs),
    isPartial: result.isInterrupted || result.error !== undefined,
    ...(result.error === undefined ? {} : { error: { code: result.error.code, message: result.error.message } }),
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
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(result.server === undefined ? {} : { server: result.server }),
    ...(result.phased === undefined ? {} : toPhasesJson(plan, result.phased, levels)),
    ...(result.findMax === undefined ? {} : { findMax: toFindMaxJson(plan, result.findMax) }),
    levels: levels.map((level) => toLevelJson(plan, level)),
    assertions: judgeAssertions(plan, result).map(toAssertionJson),
  };
}

function toAssertionJson(verdict: Verdict): object {
  const { text, state, level, phaseIndex: phase, measured, reason, endedRun, assertion } = verdict;
  const isMet = state === "pass";
  return { text, state, isMet, level, phase, endedRun, measured, reason, limit: assertion.limit };
}

/** @param tags those of the requests, if it is a part of them */
function toLevelJson(plan: Plan, result: LevelResult, tags: TaggedPart["tags"] = {}): object {
  const isStreamed = tokensPlanOf(plan, tags)?.isStreamed;
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
    ...(result.phase === undefined ? {} : { phase: { index: result.phase.index, name: result.phase.label } }),
    outcome,
    trials,
    ...(instability === undefined ? {} : { instability }),
    ...(isLatencyUnstable ? { isLatencyUnstable } : {}),
    ...(result.limits === undefined ? {} : { limits: toLimitsJson(result.limits) }),
    ...(result.mlperf === undefined ? {} : { mlperf: toMlperfJson(result.mlperf) }),
    ...(repeats === undefined ? {} : { repeats: repeats.map((repeat) => toRepeatJson(plan, repeat)) }),
    durationSec: nsToSec(window.durationNs),
    ...(window.numbers === undefined ? {} : { windows: window.numbers }),
    requests: window.requestCount,
    failed: window.failedCount,
    ...(window.cancelledCount === 0 ? {} : { cancelled: window.cancelledCount }),
    ...(window.resentCount === 0 ? {} : { resent: window.resentCount }),
    delayed: lateCount(window),
    ...(delayedByLimit === undefined
      ? {}
      : { delayedByLimit: { requests: delayedByLimit.count, longestMs: nsToMs(delayedByLimit.longestNs) } }),
    ...toThroughputJson(window, plan.target.batchSize),
    sent: window.sentCount,
    sentPerSec: sentPerSec(window),
    ...(window.sendingNs === window.durationNs ? {} : { sendingSec: nsToSec(window.sendingNs) }),
    load: toDeliveryJson(plan, result),
    inFlight: toInFlightJson(window),
    errorRatio: errorRatio(window),
    ...(window.sequenceCount === 0
      ? {}
      : { sequences: window.sequenceCount, sequencesPerSec: sequencesPerSec(window) }),
    latency: toLatencyJson(window.latency),
    ...(!window.isDecoupled
      ? {}
      : {
          responses: window.responseCount,
          responsesPerSec: responsesPerSec(window),
          firstResponse: toLatencyJson(window.firstResponse),
          ...toGapJson(window),
        }),
    ...(!window.isScheduled
      ? {}
      : { scheduledLatency: toLatencyJson(window.scheduledLatency), sendDelay: toLatencyJson(window.sendDelay) }),
    client: toClientJson(window, tokens, isStreamed),
    ...(window.server === undefined ? {} : { server: window.server }),
    ...(tokens === undefined ? {} : { tokens: toTokensJson(tokens, window, isStreamed === true) }),
    ...(window.gpu === undefined ? {} : { metrics: toGpuJson(window.gpu) }),
    ...(window.extracted === undefined ? {} : { extracted: toExtractedJson(window.extracted) }),
    ...(window.groups === undefined ? {} : toGroupsJson(plan, result)),
    ...(result.gaps === undefined ? {} : { gaps: result.gaps.map(toGapInTimeJson) }),
    timeline: timeline.map((bucket) => ({
      startSec: nsToSec(bucket.startNs),
      endSec: nsToSec(bucket.endNs),
      requests: bucket.requestCount,
      failed: bucket.failedCount,
      outstandingMean: bucket.meanOutstanding,
      latencyMeanUs: nsToUs(bucket.latency.meanNs),
      latencyP99Us: bucket.requestCount === 0 ? null : bucket.latency.percentileUs(99),
    })),
  };
}

/**
 * Converts the parts of a level by tag, each with the metrics of the level: `groups` by the values of each tag, and with several tags
 * `combinations` by all of them. The values of a tag together are the level.
 */
function toGroupsJson(plan: Plan, result: LevelResult): object {
  const { unit, level, outcome, hasServerCounters } = result;
  const common = {
    unit,
    level,
    outcome,
    hasServerCounters,
    trials: 1,
    instability: undefined,
    isLatencyUnstable: false,
  };
  const convert = ({ tags, window, tokens }: TaggedPart): object => {
    const part = { ...common, window, timeline: [], ...(tokens === undefined ? {} : { tokens }) };
    const all = toLevelJson(plan, part, tags) as Readonly<Record<string, unknown>>;
    const own = Object.entries(all).filter(([key]) => !LEVEL_KEYS.has(key));
    const named = Object.entries(tags).map(([name, value]) => [name, value ?? null]);
    return { tags: Object.fromEntries(named) as object, ...(Object.fromEntries(own) as object) };
  };
  const combinations = splitByAllTags(result);
  return {
    groups: tagNamesOf(result).flatMap((name) => splitByTag(result, name).map(convert)),
    ...(combinations.length === 0 ? {} : { combinations: combinations.map(convert) }),
  };
}

/** What a level has and its groups share. */
const LEVEL_KEYS: ReadonlySet<string> = new Set([
  "unit",
  "level",
  "outcome",
  "trials",
  "durationSec",
  "client",
  "timeline",
]);

/** Converts throughput with its interval. */
function toThroughputJson(window: Measurement, batchSize: number): object {
  const perSec = inferPerSec(window, batchSize);
  const { low, high } = throughputInterval(window, perSec, batchSize);
  return { inferPerSec: perSec, inferPerSecLow: low, inferPerSecHigh: high };
}

function toGapInTimeJson({ startNs, endNs, typicalNs }: CompletionGap): object {
  return { startSec: nsToSec(startNs), endSec: nsToSec(endNs), typicalSec: nsToSec(typicalNs) };
}

/** Converts the time between responses; nothing where no request has two. */
function toGapJson(window: Measurement): object {
  const gapNs = meanGapNs(window);
  return gapNs === undefined ? {} : { betweenResponsesMeanUs: nsToUs(gapNs) };
}

/** Converts another measurement of a level to JSON. */
function toRepeatJson({ target }: Plan, { outcome, trials, window }: LevelResult): object {
  return {
    outcome,
    trials,
    durationSec: nsToSec(window.durationNs),
    requests: window.requestCount,
    failed: window.failedCount,
    inferPerSec: inferPerSec(window, target.batchSize),
    latencyMeanUs: window.requestCount === 0 ? null : nsToUs(window.latency.meanNs),
    latencyP99Us: window.requestCount === 0 ? null : window.latency.percentileUs(99),
  };
}

function toLatencyJson(tally: LatencyTally): object | null {
  if (tally.count === 0) return null;
  const mean = estimateMeanNs(tally);
  const percentiles = REPORTED_PERCENTILES.map((percentile) => {
    const { value, low, high, effectiveCount, isReliable, neededCount } = estimatePercentile(tally, percentile);
    return [`p${percentile}`, { us: value, lowUs: low, highUs: high, effectiveCount, isReliable, neededCount }];
  });
  return {
    count: tally.count,
    effectiveCount: mean.effectiveCount,
    meanUs: nsToUs(mean.value),
    meanLowUs: mean.low === null ? null : nsToUs(mean.low),
    meanHighUs: mean.high === null ? null : nsToUs(mean.high),
    deviationUs: tally.deviationNs === undefined ? null : nsToUs(tally.deviationNs),
    minUs: nsToUs(tally.minNs),
    maxUs: nsToUs(tally.maxNs),
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
