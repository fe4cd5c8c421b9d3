import { clientLagOf, explainLag, reportedTimes } from "../../measure/client-lag.ts";
import { saturationReason } from "../../measure/client-limit.ts";
import { lateCount } from "../../measure/derived-values.ts";
import { type GaugeReadings, ofGpu, seriesOf } from "../../measure/gauge-readings.ts";
import { checkLittlesLaw, LITTLES_LAW_TOLERANCE_RATIO } from "../../measure/in-flight.ts";
import type { Instability } from "../../measure/instability.ts";
import { type Measurement, sendDelayOf } from "../../measure/measurement.ts";
import { ALL_STATISTICS, type Metric } from "../../measure/metrics/metric.ts";
import { sampleOfSketch } from "../../measure/metrics/sample.ts";
import { type Gauge, gpuUuidsOf } from "../../measure/metrics/server-gauges.ts";
import { splitByAllTags, splitByTag, type TaggedPart, tagNamesOf } from "../../measure/split-by-tag.ts";
import type { TimelineBucket, TimelineInterval } from "../../measure/timeline.ts";
import type { TokenMeasurement } from "../../measure/tokens/token-measurement.ts";
import { countUnmarkedEnds, tokenWarnings } from "../../measure/tokens/token-warnings.ts";
import { judge } from "../../measure/verdicts.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToMs, nsToSec, nsToUs } from "../../plan/units.ts";
import { levelUnitOf } from "../../registry/load-modes.ts";
import type { DelayedRequests, FindMaxResult, LevelLimits, LevelResult } from "../../result/run-result.ts";
import { type DeliveredLevel, loadDelivery } from "../notes/load-delivery.ts";
import type { ClientJson, GroupJson, MeasuredJson } from "../schema/level.ts";
import type { TelemetryJson, TokensJson } from "../schema/metrics.ts";
import type { IntervalJson } from "../schema/over-time.ts";
import type { FindMaxJson, LevelJson } from "../schema/report-schema.ts";
import { toDerivedJson, toEstimateJson, toExtractedJson, toMetricsJson, toSpreadJson, toValueJson } from "./metrics.ts";

/** A level in Rampart's JSON report. */

/** Converts a level. */
export function toLevelJson(plan: Plan, result: LevelResult): LevelJson {
  const { unit, level, phase, outcome, window, trials, instability, limits, mlperf, repeats } = result;
  return defined({
    ...{ unit, level, phase: phase && { index: phase.index, name: phase.label }, outcome, trials },
    instability: instability && toInstabilityJson(instability),
    isLatencyUnstable: result.isLatencyUnstable || undefined,
    limits: limits && toLimitsJson(limits),
    mlperf: mlperf && { ...mlperf, broken: [...mlperf.broken] },
    repeats: repeats?.map((repeat) => toRepeatJson(plan, repeat)),
    durationSec: nsToSec(window.durationNs),
    windows: window.numbers,
    ...toMeasuredJson(plan, result, decidedOf(plan, result)),
    client: result.isOfOthers === true ? undefined : toClientJson(window),
    ...(window.groups === undefined ? {} : toGroupsJson(plan, result)),
    gaps: window.gaps?.map(({ startNs, endNs, typicalNs }) => ({
      ...{ startSec: nsToSec(startNs), endSec: nsToSec(endNs), typicalSec: nsToSec(typicalNs) },
    })),
    timeline: toTimelineJson(result.timeline),
  });
}

function toInstabilityJson({ windows, toleranceRatio, ...rest }: Instability): NonNullable<LevelJson["instability"]> {
  return {
    ...rest,
    withinRatio: toleranceRatio,
    windows: windows.map(({ inferPerSec, latencyNs, requestCount }) => ({
      throughputPerSec: inferPerSec,
      latencyUs: nsToUs(latencyNs),
      completed: requestCount,
    })),
  };
}

/** Delays of sends. They are not a metric of the catalogue, because the client causes them. */
const SEND_DELAY = { quantity: "time", statistics: ALL_STATISTICS } as const;

/** Converts the token data of a level, except its metrics. */
export function toTokensJson(tokens: TokenMeasurement): TokensJson {
  return defined({
    withContent: tokens.count,
    withoutContent: tokens.emptyCount,
    withoutEndMark: countUnmarkedEnds(tokens),
    failed: tokens.failedCount,
    warnings: tokenWarnings(tokens),
  });
}

/** A level, or the part of it with certain tags. */
interface LevelPart extends Pick<LevelResult, "unit" | "level" | "phase" | "unsentCount"> {
  readonly window: Measurement;
  readonly delayedByLimit?: DelayedRequests;
}

/** Returns the percentiles of a metric with a certain verdict, by the metric's key. */
type Decided = (key: string) => readonly number[];

/** Returns the percentiles of a level for which an assertion or a limit of a search is decided. They need no mark. */
function decidedOf({ assertions, target }: Plan, result: LevelResult): Decided {
  const asserted = assertions.filter(
    (one) => one.where === undefined && judge(one, [result], target.batchSize).state !== "unresolved",
  );
  const limited = (result.limits?.verdicts ?? []).filter(({ state }) => state !== "unresolved");
  const metrics = [...asserted, ...limited.map(({ limit }) => limit)].map(({ metric }) => metric);
  return (key) =>
    metrics.flatMap(({ key: asserted, statistic }) =>
      asserted === key && typeof statistic === "number" ? [statistic] : [],
    );
}

/** Converts the measurement of requests. @param decided default: none */
function toMeasuredJson(plan: Plan, part: LevelPart, decided?: Decided): MeasuredJson {
  const { window, delayedByLimit } = part;
  const { tokens } = window;
  const sendDelay = sendDelayOf(window);
  const isWanted = ({ needs }: Metric): boolean => window.isStreamed || needs !== "streams";
  return defined({
    completed: window.requestCount,
    failed: window.failedCount,
    cancelled: window.cancelledCount || undefined,
    resent: window.resentCount || undefined,
    delayed: lateCount(window),
    delayedByLimit: delayedByLimit && {
      count: delayedByLimit.count,
      longestMs: nsToMs(delayedByLimit.longestNs),
    },
    sent: window.sentCount,
    unsent: part.unsentCount,
    sendingSec: window.sendingNs === window.durationNs ? undefined : nsToSec(window.sendingNs),
    load: toDeliveryJson(plan, part),
    inFlight: toInFlightJson(window),
    sequences: window.sequenceCount || undefined,
    responses: window.isDecoupled ? window.responseCount : undefined,
    metrics: toMetricsJson(part, plan.target.batchSize, defined({ isWanted, decided })),
    sendDelayUs: sendDelay.count === 0 ? undefined : toSpreadJson(sampleOfSketch(sendDelay), SEND_DELAY),
    server: window.server,
    tokens: tokens && toTokensJson(tokens),
    telemetry: window.gauges && toTelemetryJson(window, window.gauges),
    extracted: window.extracted && toExtractedJson(window.extracted),
    derived: plan.derived && toDerivedJson(plan.derived, part, plan.target.batchSize),
  });
}

/**
 * Converts the parts of a level by tag, each with the metrics of the level: `groups` by the values of each tag, and if there are
 * several tags, `combinations` by all of them. The groups of a tag together are the level.
 */
function toGroupsJson(plan: Plan, result: LevelResult): Pick<LevelJson, "groups" | "combinations"> {
  const { unit, level, window: whole } = result;
  const convert = ({ tags, window }: TaggedPart): GroupJson => {
    const named = Object.entries(tags).map(([name, value]) => [name, value ?? null] as const);
    const measured = toMeasuredJson(plan, { unit, level, window });
    // The requested load is that of all requests together.
    const load = { ...measured.load, asked: null, isDelivered: null };
    return { tags: Object.fromEntries(named), ...measured, load };
  };
  const combinations = splitByAllTags(whole);
  return {
    groups: tagNamesOf(whole).flatMap((name) => splitByTag(whole, name).map(convert)),
    ...(combinations.length === 0 ? {} : { combinations: combinations.map(convert) }),
  };
}

function toRepeatJson(
  { target }: Plan,
  { outcome, trials, window }: LevelResult,
): NonNullable<LevelJson["repeats"]>[number] {
  return {
    outcome,
    trials,
    durationSec: nsToSec(window.durationNs),
    completed: window.requestCount,
    failed: window.failedCount,
    metrics: toMetricsJson({ window }, target.batchSize, { isWanted: ({ needs }) => needs === undefined }),
  };
}

/** Converts the readings of a server's metrics page, by GPU. Metrics that the server does not report are absent. */
function toTelemetryJson(window: Measurement, tally: GaugeReadings): TelemetryJson {
  const lastOf = (uuid: string, metric: Gauge): number | undefined =>
    seriesOf(tally, metric).find(([of]) => of === uuid)?.[1].last;
  return {
    readings: tally.count,
    gpus: gpuUuidsOf(tally).map((uuid) =>
      defined({
        uuid,
        metrics: toMetricsJson({ window: { ...window, gauges: ofGpu(tally, uuid) } }, 1, {
          isWanted: ({ needs }) => needs === "gauges",
        }),
        gpuPowerLimitWatts: lastOf(uuid, "gpuPowerLimitWatts"),
        gpuMemoryTotalBytes: lastOf(uuid, "gpuMemoryTotalBytes"),
      }),
    ),
  };
}

/** Converts the result of a search to JSON. */
export function toFindMaxJson({ limits = [], target, load }: Plan, result: FindMaxResult): FindMaxJson {
  const { highest = null, next = null, isResolved } = result;
  return {
    limits: limits.map((limit) => judge(limit, [], target.batchSize).text),
    unit: levelUnitOf(load),
    highest,
    next,
    isResolved,
  };
}

function toLimitsJson({ state, reason, verdicts }: LevelLimits): NonNullable<LevelJson["limits"]> {
  return defined({
    state,
    reason,
    verdicts: verdicts.map(({ limit, state: ofLimit, estimate, aboveRatio }) =>
      defined({
        text: judge(limit, [], 1).text,
        state: ofLimit,
        limit: toValueJson(limit.metric, limit.limit),
        measured: estimate && toEstimateJson(limit.metric, estimate),
        aboveRatio,
      }),
    ),
  });
}

/** Parts of levels. */

/** Converts the client's state to JSON: whether the client was the limit instead of the server, and how late it was. */
function toClientJson(window: Measurement): ClientJson {
  const { cpuRatio, coreWaitRatio, loopLagMaxNs, loopLagMeanNs, loopLagP99Ns } = window.health;
  const times = reportedTimes(window);
  const lag = clientLagOf(window);
  return {
    sendMeanUs: nsToUs(window.sendMeanNs),
    receiveMeanUs: nsToUs(window.receiveMeanNs),
    overheadRatio: window.overheadPct / 100,
    cpuRatio,
    coreWaitRatio: coreWaitRatio ?? null,
    loopLagMaxMs: nsToMs(loopLagMaxNs),
    loopLagMeanMs: nsToMs(loopLagMeanNs),
    loopLagP99Ms: loopLagP99Ns === undefined ? null : nsToMs(loopLagP99Ns),
    lagWarning: explainLag(lag, times) ?? null,
    saturation: saturationReason(window) ?? null,
  };
}

/** Converts the requested and the delivered load to JSON. */
export function toDeliveryJson(plan: Plan, level: DeliveredLevel): LevelJson["load"] {
  const { unit, asked, delivered, isDelivered } = loadDelivery(plan, level);
  return { unit, asked: asked ?? null, delivered: delivered ?? null, isDelivered: isDelivered ?? null };
}

/** Converts requests in flight to JSON. Those at the start plus the sent ones equal the ended ones plus those at the end. */
function toInFlightJson(window: Measurement): LevelJson["inFlight"] {
  const { inFlightMean, expectedMean, isKept } = checkLittlesLaw(window);
  return {
    mean: inFlightMean,
    atStart: window.openBeforeCount,
    atEnd: window.openAfterCount,
    littlesLaw: { expectedMean, withinRatio: LITTLES_LAW_TOLERANCE_RATIO, isKept },
  };
}

/** Converts the timeline of a level or of phases. */
export function toTimelineJson(buckets: readonly TimelineBucket[]): LevelJson["timeline"][number][] {
  return buckets.map((bucket) => ({
    ...toIntervalJson(bucket),
    latencyMeanUs: bucket.latency === undefined ? null : nsToUs(bucket.latency.meanNs),
    latencyP99Us: bucket.latency === undefined ? null : nsToUs(bucket.latency.p99Ns),
  }));
}

/** Converts an interval. */
export function toIntervalJson({
  startNs,
  endNs,
  requestCount,
  failedCount,
  cancelledCount,
  meanOutstanding,
}: TimelineInterval): IntervalJson {
  return {
    startSec: nsToSec(startNs),
    endSec: nsToSec(endNs),
    completed: requestCount,
    failed: failedCount,
    cancelled: cancelledCount,
    inFlightMean: meanOutstanding,
  };
}
