import { splitByAllTags, splitByTag, type TaggedPart, tagNamesOf } from "../../measure/groups.ts";
import { certainEnds } from "../../measure/intervals/certainty.ts";
import { throughputInterval } from "../../measure/intervals/throughput.ts";
import { latencyOf, type Measurement, sendDelayOf } from "../../measure/measurement.ts";
import {
  errorRatio,
  inferPerSec,
  lateCount,
  meanGapNs,
  responsesPerSec,
  sentPerSec,
  sequencesPerSec,
} from "../../measure/metrics.ts";
import { percentileUs } from "../../measure/sketch.ts";
import type { TokenMeasurement } from "../../measure/tokens/token-measurement.ts";
import { judge } from "../../measure/verdicts.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToMs, nsToSec, nsToUs } from "../../plan/units.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import type { DelayedRequests, LevelResult } from "../../result/run-result.ts";
import type { GroupJson, MeasuredJson, RepeatJson } from "../schema/level.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import { toClientJson } from "./client.ts";
import { toLimitsJson } from "./find-max.ts";
import { toGpuJson } from "./gpus.ts";
import { toLatencyJson } from "./latency.ts";
import { toDeliveryJson, toInFlightJson } from "./load.ts";
import { toMlperfJson } from "./mlperf.ts";
import { toExtractedJson, toTokensJson } from "./samples.ts";
import { toValuesJson } from "./values.ts";

/** A level in Rampart's JSON report. */

/** Converts a level. */
export function toLevelJson(plan: Plan, result: LevelResult): LevelJson {
  const { unit, level, phase, outcome, window, trials, instability, limits, mlperf, repeats, gaps, tokens } = result;
  return {
    unit,
    level,
    ...(phase === undefined ? {} : { phase: { index: phase.index, name: phase.label } }),
    outcome,
    trials,
    ...(instability === undefined ? {} : { instability: { ...instability, windows: [...instability.windows] } }),
    ...(result.isLatencyUnstable ? { isLatencyUnstable: true } : {}),
    ...(limits === undefined ? {} : { limits: toLimitsJson(limits) }),
    ...(mlperf === undefined ? {} : { mlperf: toMlperfJson(mlperf) }),
    ...(repeats === undefined ? {} : { repeats: repeats.map((repeat) => toRepeatJson(plan, repeat)) }),
    durationSec: nsToSec(window.durationNs),
    ...(window.numbers === undefined ? {} : { windows: window.numbers }),
    ...toMeasuredJson(plan, result, {}, decidedOf(plan, result)),
    client: toClientJson(window, tokens, tokensPlanOf(plan, {})?.isStreamed),
    ...(window.groups === undefined ? {} : toGroupsJson(plan, result)),
    ...(gaps === undefined
      ? {}
      : {
          gaps: gaps.map(({ startNs, endNs, typicalNs }) => ({
            startSec: nsToSec(startNs),
            endSec: nsToSec(endNs),
            typicalSec: nsToSec(typicalNs),
          })),
        }),
    timeline: result.timeline.map((bucket) => ({
      startSec: nsToSec(bucket.startNs),
      endSec: nsToSec(bucket.endNs),
      requests: bucket.requestCount,
      failed: bucket.failedCount,
      outstandingMean: bucket.meanOutstanding,
      latencyMeanUs: bucket.latency === undefined ? null : nsToUs(bucket.latency.meanNs),
      latencyP99Us: bucket.latency === undefined ? null : nsToUs(bucket.latency.p99Ns),
    })),
  };
}

/** A level, or the part of it with certain tags. */
interface MeasuredPart extends Pick<LevelResult, "unit" | "level" | "phase"> {
  readonly window: Measurement;
  readonly tokens?: TokenMeasurement;
  readonly delayedByLimit?: DelayedRequests;
}

/** Percentiles of a metric with a certain verdict, by its key. */
type Decided = (key: string) => readonly number[];

/** Returns the percentiles of a level on which an assertion or a limit of a search is decided. A decided one needs no mark. */
function decidedOf({ assertions, target }: Plan, result: LevelResult): Decided {
  const asserted = assertions.filter(
    (one) => one.where === undefined && judge(one, [result], target.batchSize).state !== "unresolved",
  );
  const limited = (result.limits?.verdicts ?? []).filter(({ state }) => state !== "unresolved");
  const metrics = [...asserted, ...limited.map(({ limit }) => limit)].map(({ metric }) => metric);
  return (key) =>
    metrics.flatMap(({ key: own, statistic }) => (own === key && typeof statistic === "number" ? [statistic] : []));
}

/**
 * Converts what was measured of requests.
 * @param tags those of the requests; empty for a whole level
 * @param decided Default: nothing is
 */
function toMeasuredJson(
  plan: Plan,
  part: MeasuredPart,
  tags: TaggedPart["tags"],
  decided: Decided = () => [],
): MeasuredJson {
  const { window, tokens, delayedByLimit } = part;
  return {
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
    load: toDeliveryJson(plan, part),
    inFlight: toInFlightJson(window),
    errorRatio: errorRatio(window),
    ...(window.sequenceCount === 0
      ? {}
      : { sequences: window.sequenceCount, sequencesPerSec: sequencesPerSec(window) }),
    latency: toLatencyJson(window.latency, decided("latency")),
    ...(window.isDecoupled ? toResponsesJson(window, decided("firstResponse")) : {}),
    ...(!window.isScheduled
      ? {}
      : {
          scheduledLatency: toLatencyJson(latencyOf(window, "scheduledLatency"), decided("scheduledLatency")),
          sendDelay: toLatencyJson(sendDelayOf(window)),
        }),
    ...(window.server === undefined ? {} : { server: window.server }),
    ...(tokens === undefined
      ? {}
      : { tokens: toTokensJson(tokens, window, tokensPlanOf(plan, tags)?.isStreamed === true, decided) }),
    ...(window.gpu === undefined ? {} : { metrics: toGpuJson(window.gpu) }),
    ...(window.extracted === undefined ? {} : { extracted: toExtractedJson(window.extracted) }),
    ...toValuesJson(part, plan.target.batchSize),
  };
}

/**
 * Converts the parts of a level by tag, each with the metrics of the level: `groups` by the values of each tag, and with several tags
 * `combinations` by all of them. The values of a tag together are the level.
 */
function toGroupsJson(plan: Plan, result: LevelResult): Pick<LevelJson, "groups" | "combinations"> {
  const { unit, level } = result;
  const convert = ({ tags, window, tokens }: TaggedPart): GroupJson => {
    const part = { unit, level, window, ...(tokens === undefined ? {} : { tokens }) };
    const named = Object.entries(tags).map(([name, value]) => [name, value ?? null] as const);
    return { tags: Object.fromEntries(named), ...toMeasuredJson(plan, part, tags) };
  };
  const combinations = splitByAllTags(result);
  return {
    groups: tagNamesOf(result).flatMap((name) => splitByTag(result, name).map(convert)),
    ...(combinations.length === 0 ? {} : { combinations: combinations.map(convert) }),
  };
}

/** Converts throughput with its interval; its ends are null when it says nothing. */
function toThroughputJson(
  window: Measurement,
  batchSize: number,
): Pick<MeasuredJson, "inferPerSec" | "inferPerSecLow" | "inferPerSecHigh"> {
  const perSec = inferPerSec(window, batchSize);
  const { low, high } = certainEnds({ value: perSec, ...throughputInterval(window, perSec, batchSize) });
  return { inferPerSec: perSec, inferPerSecLow: low, inferPerSecHigh: high };
}

/** Converts the responses of requests that can have several. The time between them is absent where no request has two. */
function toResponsesJson(
  window: Measurement,
  decided: readonly number[],
): Pick<MeasuredJson, "responses" | "responsesPerSec" | "firstResponse" | "betweenResponsesMeanUs"> {
  const gapNs = meanGapNs(window);
  return {
    responses: window.responseCount,
    responsesPerSec: responsesPerSec(window),
    firstResponse: toLatencyJson(latencyOf(window, "firstResponse"), decided),
    ...(gapNs === undefined ? {} : { betweenResponsesMeanUs: nsToUs(gapNs) }),
  };
}

/** Converts another measurement of a level. */
function toRepeatJson({ target }: Plan, { outcome, trials, window }: LevelResult): RepeatJson {
  return {
    outcome,
    trials,
    durationSec: nsToSec(window.durationNs),
    requests: window.requestCount,
    failed: window.failedCount,
    inferPerSec: inferPerSec(window, target.batchSize),
    latencyMeanUs: window.requestCount === 0 ? null : nsToUs(window.latency.mean),
    latencyP99Us: window.requestCount === 0 ? null : percentileUs(window.latency, 99),
  };
}
