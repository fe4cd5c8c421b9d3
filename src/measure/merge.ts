import { mergeExtracted } from "./extracted-tally.ts";
import { GpuTally } from "./gpu-tally.ts";
import { mergeCompletions } from "./intervals/throughput.ts";
import { LatencyTally } from "./latency-tally.ts";
import type { Measurement } from "./measurement.ts";
import { sumDeltas } from "./server-delta.ts";

/** Merges consecutive windows: adds counts, and computes rates over the total duration. */
export function mergeWindows(windows: readonly Measurement[]): Measurement {
  const extracted = mergeExtracted(windows.map((window) => window.extracted));
  const first = windows[0];
  const last = windows.at(-1);
  if (first === undefined || last === undefined) throw new Error("no windows to merge");
  const { isScheduled, isDecoupled } = first;
  const latency = mergeTallies(windows.map((window) => window.latency));
  const requestCount = sumOf(windows, (window) => window.requestCount);
  const perRequest = (pick: (window: Measurement) => number): number =>
    requestCount === 0 ? 0 : sumOf(windows, (window) => pick(window) * window.requestCount) / requestCount;
  const durationNs = sumOf(windows, (window) => window.durationNs);
  const overTime = (pick: (window: Measurement) => number): number =>
    sumOf(windows, (window) => pick(window) * window.durationNs) / durationNs;
  return {
    startNs: first.startNs,
    endNs: last.endNs,
    ...(first.numbers === undefined || last.numbers === undefined
      ? {}
      : { numbers: { first: first.numbers.first, last: last.numbers.last } }),
    durationNs,
    isScheduled,
    isDecoupled,
    sendingNs: sumOf(windows, (window) => window.sendingNs),
    requestCount,
    failedCount: sumOf(windows, (window) => window.failedCount),
    cancelledCount: sumOf(windows, (window) => window.cancelledCount),
    resentCount: sumOf(windows, (window) => window.resentCount),
    delayedCount: sumOf(windows, (window) => window.delayedCount),
    sentCount: sumOf(windows, (window) => window.sentCount),
    openBeforeCount: first.openBeforeCount,
    openAfterCount: last.openAfterCount,
    inFlightSumNs: sumOf(windows, (window) => window.inFlightSumNs),
    sequenceCount: sumOf(windows, (window) => window.sequenceCount),
    responseCount: sumOf(windows, (window) => window.responseCount),
    latency,
    firstResponse: isDecoupled ? mergeTallies(windows.map((window) => window.firstResponse)) : latency,
    scheduledLatency: isScheduled ? mergeTallies(windows.map((window) => window.scheduledLatency)) : latency,
    sendDelay: mergeTallies(windows.map((window) => window.sendDelay)),
    completions: mergeCompletions(windows.map((window) => window.completions)),
    sendMeanNs: perRequest((window) => window.sendMeanNs),
    receiveMeanNs: perRequest((window) => window.receiveMeanNs),
    overheadPct: sumOf(windows, (window) => window.overheadPct) / windows.length,
    health: {
      cpuRatio: overTime((window) => window.health.cpuRatio),
      loopLagMaxNs: Math.max(...windows.map((window) => window.health.loopLagMaxNs)),
      loopLagMeanNs: overTime((window) => window.health.loopLagMeanNs),
      ...mergeP99(windows),
      ...(windows.some(({ health }) => health.coreWaitRatio === undefined)
        ? {}
        : { coreWaitRatio: overTime((window) => window.health.coreWaitRatio ?? 0) }),
    },
    server: sumDeltas(windows.map((window) => window.server)),
    gpu: mergeGpus(windows.map((window) => window.gpu)),
    ...(extracted === undefined ? {} : { extracted }),
    ...mergeGroups(windows),
  };
}

/** Merges the parts of windows that belong to one group or member each. */
function mergeGroups(windows: readonly Measurement[]): Pick<Measurement, "groups" | "memberServers"> {
  const { groups, memberServers } = windows[0] as Measurement;
  if (groups === undefined) return {};
  const merged = groups.map(({ tags }, index) => ({
    tags,
    window: mergeWindows(windows.flatMap((window) => window.groups?.[index]?.window ?? [])),
  }));
  if (memberServers === undefined) return { groups: merged };
  const servers = Object.keys(memberServers).map((name) => [
    name,
    sumDeltas(windows.map((window) => window.memberServers?.[name])),
  ]);
  return { groups: merged, memberServers: Object.fromEntries(servers) as Measurement["memberServers"] };
}

function mergeP99(windows: readonly Measurement[]): Pick<Measurement["health"], "loopLagP99Ns"> {
  const known = windows.map(({ health }) => health.loopLagP99Ns).filter((lagNs) => lagNs !== undefined);
  return known.length === 0 ? {} : { loopLagP99Ns: Math.max(...known) };
}

function mergeTallies(tallies: readonly LatencyTally[]): LatencyTally {
  const merged = new LatencyTally();
  for (const tally of tallies) merged.merge(tally);
  return merged;
}

function mergeGpus(tallies: readonly (GpuTally | undefined)[]): GpuTally | undefined {
  const known = tallies.filter((tally) => tally !== undefined);
  if (known.length === 0) return undefined;
  const merged = new GpuTally();
  for (const tally of known) merged.merge(tally);
  return merged;
}

function sumOf(windows: readonly Measurement[], pick: (window: Measurement) => number): number {
  return windows.reduce((sum, window) => sum + pick(window), 0);
}
