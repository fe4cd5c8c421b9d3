import { defined } from "../plan/objects.ts";
import { joinGaps } from "./completion-gaps.ts";
import { joinExtracted } from "./extracted-tally.ts";
import { joinReadings } from "./gauge-readings.ts";
import { joinGood } from "./good-requests.ts";
import { addBins } from "./intervals/time-bins.ts";
import { type ClientHealth, latencyOf, type MeasuredGroup, type Measurement, sendDelayOf } from "./measurement.ts";
import { joinDeltas } from "./server-delta.ts";
import { joinSketches, type Sketch } from "./sketch.ts";
import { joinTokens } from "./tokens/token-measurement.ts";

/** Joins measurements: consecutive windows, and parts of one load that ran in parallel. */

type Way = "in-time" | "parallel";

/**
 * Joins consecutive measurements, such as windows: counts are added, and rates are over the sum of their lengths. The result
 * equals that of one window over the whole time. @param windows in order of time, not empty
 */
export function mergeInTime(windows: readonly Measurement[]): Measurement {
  return join(windows, "in-time");
}

/**
 * Joins measurements of parts of one load that ran at the same time, such as groups, targets, threads or hosts: counts are
 * added, and rates are over the same time. A server counts all its requests, so readings of one server by several parts count
 * once; and the client's health is the worst of all parts.
 * @param parts in any order, not empty
 */
export function joinParallel(parts: readonly Measurement[]): Measurement {
  return join(parts, "parallel");
}

/** Fields that are added: counts, and times over all requests. */
const SUMS = [
  ...(["requestCount", "failedCount", "cancelledCount", "resentCount", "delayedCount", "sentCount"] as const),
  ...(["inFlightSumNs", "sequenceCount", "responseCount", "betweenCount", "betweenSumNs", "laneNs"] as const),
] as const;

function join(parts: readonly Measurement[], way: Way): Measurement {
  const [first] = parts;
  if (first === undefined) throw new Error("no windows to merge");
  const sumOf = (pick: (part: Measurement) => number): number => parts.reduce((sum, part) => sum + pick(part), 0);
  const requestCount = sumOf((part) => part.requestCount);
  const perRequest = (pick: (part: Measurement) => number): number =>
    requestCount === 0 ? 0 : sumOf((part) => pick(part) * part.requestCount) / requestCount;
  const all = <K extends keyof Measurement>(name: K): Measurement[K][] => parts.map((part) => part[name]);
  const sums = Object.fromEntries(SUMS.map((name) => [name, sumOf((part) => part[name])])) as Record<
    (typeof SUMS)[number],
    number
  >;
  return defined({
    ...frameOf(parts, way),
    ...sums,
    ...latenciesOf(parts),
    completions: joinCompletions(parts, way),
    sendMeanNs: perRequest((part) => part.sendMeanNs),
    receiveMeanNs: perRequest((part) => part.receiveMeanNs),
    server: joinDeltas(all("server"), way),
    gauges: joinReadings(all("gauges"), way),
    extracted: joinExtracted(all("extracted")),
    good: first.good && joinGood(all("good").map((good = []) => good)),
    tokens: joinTokens(all("tokens").filter((tokens) => tokens !== undefined)),
    gaps: way === "in-time" ? joinGaps(all("gaps")) : undefined,
    groups: joinGroups(parts, way),
    memberServers: joinServers(parts, way),
  });
}

/** Returns the times, the requests in flight at both ends, and the client's health. */
function frameOf(parts: readonly Measurement[], way: Way) {
  const [first, last] = [parts[0] as Measurement, parts.at(-1) as Measurement];
  const all = (pick: (part: Measurement) => number): number[] => parts.map(pick);
  const sumOf = (pick: (part: Measurement) => number): number => all(pick).reduce((sum, value) => sum + value, 0);
  const averageBy = (weight: (part: Measurement) => number, pick: (part: Measurement) => number): number => {
    const sum = sumOf(weight);
    return sum === 0 ? pick(first) : sumOf((part) => pick(part) * weight(part)) / sum;
  };
  const isInTime = way === "in-time";
  const durationOf = (part: Measurement): number => part.durationNs;
  const lengthOf = (pick: (part: Measurement) => number): number => (isInTime ? sumOf(pick) : Math.max(...all(pick)));
  const numbers = parts.flatMap((part) => part.numbers ?? []);
  const withTokens = parts.filter(({ tokens }) => tokens !== undefined);
  return {
    startNs: Math.min(...all((part) => part.startNs)),
    endNs: Math.max(...all((part) => part.endNs)),
    ...(numbers.length === parts.length && {
      numbers: {
        first: Math.min(...numbers.map((one) => one.first)),
        last: Math.max(...numbers.map((one) => one.last)),
      },
    }),
    windowCount: lengthOf((part) => part.windowCount),
    durationNs: lengthOf(durationOf),
    sendingNs: lengthOf((part) => part.sendingNs),
    isScheduled: parts.some((part) => part.isScheduled),
    isDecoupled: parts.some((part) => part.isDecoupled),
    isStreamed: (withTokens.length === 0 ? parts : withTokens).every((part) => part.isStreamed),
    openBeforeCount: isInTime ? first.openBeforeCount : sumOf((part) => part.openBeforeCount),
    openAfterCount: isInTime ? last.openAfterCount : sumOf((part) => part.openAfterCount),
    // Mean of the windows, like perf_analyzer.
    overheadPct: averageBy(isInTime ? (part) => part.windowCount : (part) => part.laneNs, (part) => part.overheadPct),
    health: isInTime
      ? healthOverTime(parts, (pick) => averageBy(durationOf, (part) => pick(part.health)))
      : worstHealth(parts),
  };
}

function healthOverTime(
  parts: readonly Measurement[],
  averageOf: (pick: (health: ClientHealth) => number) => number,
): ClientHealth {
  const { coreWaitRatio: _, ...worst } = worstHealth(parts);
  return {
    ...worst,
    cpuRatio: averageOf(({ cpuRatio }) => cpuRatio),
    loopLagMeanNs: averageOf(({ loopLagMeanNs }) => loopLagMeanNs),
    ...(parts.some(({ health }) => health.coreWaitRatio === undefined)
      ? {}
      : { coreWaitRatio: averageOf(({ coreWaitRatio = 0 }) => coreWaitRatio) }),
  };
}

function worstHealth(parts: readonly Measurement[]): ClientHealth {
  const worst = (pick: (health: ClientHealth) => number | undefined): number | undefined => {
    const known = parts.map(({ health }) => pick(health)).filter((value) => value !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  };
  return defined({
    cpuRatio: worst(({ cpuRatio }) => cpuRatio) ?? 0,
    loopLagMaxNs: worst(({ loopLagMaxNs }) => loopLagMaxNs) ?? 0,
    loopLagMeanNs: worst(({ loopLagMeanNs }) => loopLagMeanNs) ?? 0,
    loopLagP99Ns: worst(({ loopLagP99Ns }) => loopLagP99Ns),
    coreWaitRatio: worst(({ coreWaitRatio }) => coreWaitRatio),
  });
}

function latenciesOf(
  parts: readonly Measurement[],
): Pick<Measurement, "latency" | "firstResponse" | "scheduledLatency" | "sendDelay"> {
  const joined = (pick: (part: Measurement) => Sketch): Sketch => joinSketches(parts.map(pick));
  return {
    latency: joined(({ latency }) => latency),
    ...(parts.some(({ isDecoupled }) => isDecoupled)
      ? { firstResponse: joined((part) => latencyOf(part, "firstResponse")) }
      : {}),
    ...(parts.some(({ isScheduled }) => isScheduled)
      ? { scheduledLatency: joined((part) => latencyOf(part, "scheduledLatency")), sendDelay: joined(sendDelayOf) }
      : {}),
  };
}

/** Undefined if a part has no bins. */
function joinCompletions(parts: readonly Measurement[], way: Way): Measurement["completions"] {
  const known = parts.flatMap(({ completions }) => completions ?? []);
  return known.length < parts.length ? undefined : addBins(known, way === "in-time" ? "sum" : "least");
}

function joinGroups(parts: readonly Measurement[], way: Way): Measurement["groups"] {
  if (parts.every(({ groups }) => groups === undefined)) return undefined;
  const byTags = new Map<string, MeasuredGroup[]>();
  for (const group of parts.flatMap(({ groups }) => groups ?? [])) {
    const key = JSON.stringify(Object.entries(group.tags).sort(([a], [b]) => (a < b ? -1 : 1)));
    const same = byTags.get(key);
    if (same === undefined) byTags.set(key, [group]);
    else same.push(group);
  }
  return [...byTags.values()].map((same) => {
    const windows = same.map(({ window }) => window);
    return { tags: (same[0] as MeasuredGroup).tags, window: join(windows, way) };
  });
}

function joinServers(parts: readonly Measurement[], way: Way): Measurement["memberServers"] {
  const known = parts.map(({ memberServers }) => memberServers).filter((servers) => servers !== undefined);
  if (known.length === 0) return undefined;
  const names = [...new Set(known.flatMap((servers) => Object.keys(servers)))];
  const joined = names.flatMap((name) => {
    const deltas = known.map((servers) => servers[name]);
    const delta = joinDeltas(deltas, way);
    return delta === undefined ? [] : [[name, delta] as const];
  });
  return Object.fromEntries(joined);
}
