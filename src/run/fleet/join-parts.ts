import { joinIdleTimes } from "../../measure/completion-gaps.ts";
import { joinParallel } from "../../measure/merge.ts";
import type { MlperfSample } from "../../measure/mlperf/mlperf-tally.ts";
import type { LevelTokens } from "../../measure/tokens/run-tokens.ts";
import { joinTokens, type TokenMeasurement } from "../../measure/tokens/token-measurement.ts";
import { defined } from "../../plan/objects.ts";
import { sum } from "../../plan/units.ts";
import type { ClientLoad, ProgressCounts } from "../../result/observer.ts";
import {
  type HostStandstill,
  type LostShare,
  REQUEST_COUNTS,
  type SendingHost,
  type SessionTally,
} from "../../result/run-result.ts";
import type { ServerLoad } from "../../transport/client.ts";
import type { BegunWindow, CutWindow } from "../count/window-counter.ts";
import type { SenderState, SenderTotals, Unsent } from "../send/messages.ts";

/** Joins the reports of several senders into one. */

/** Returns the parts that are not missing. */
export function known<T>(parts: readonly (T | undefined)[]): T[] {
  return parts.filter((part) => part !== undefined);
}

/** Adds fields of the same name. */
export function sumsOf<K extends string>(
  parts: readonly Readonly<Record<K, number>>[],
  keys: readonly K[],
): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, sum(parts.map((part) => part[key]))])) as Record<K, number>;
}

export function joinStates(parts: readonly SenderState[]): SenderState {
  const ends = ["completedCount", "failedCount", "cancelledCount"] as const;
  return {
    ...sumsOf(parts, ["sentCount", "endedCount", "outstanding", "activeLanes", "quota", ...ends]),
    isSending: parts.some(({ isSending }) => isSending),
    lastSuccessNs: Math.max(...parts.map(({ lastSuccessNs }) => lastSuccessNs)),
    longestNs: Math.max(...parts.map(({ longestNs }) => longestNs)),
    unsent: joinUnsent(parts.map(({ unsent }) => unsent)),
  };
}

function joinUnsent(parts: readonly Unsent[]): Unsent {
  const delayed = known(parts.map((part) => part.delayed));
  const longestNs = Math.max(...delayed.map((part) => part.longestNs));
  return {
    ...sumsOf(parts, ["count"]),
    delayed: delayed.length === 0 ? undefined : { ...sumsOf(delayed, ["count"]), longestNs },
  };
}

/** Adds counts for a display, including those of lost senders. The client load is that of the busiest sender. */
export function joinCounts(parts: readonly ProgressCounts[], gone: readonly SenderState[]): ProgressCounts {
  const clients = known(parts.map(({ client }) => client));
  const worst = (pick: (client: ClientLoad) => number): number => Math.max(...clients.map(pick));
  return {
    ...sumsOf([...parts, ...gone], REQUEST_COUNTS),
    ...sumsOf(parts, ["outstanding", "openResponses"]),
    ...(clients.length === 0
      ? {}
      : { client: { cpuRatio: worst((one) => one.cpuRatio), loopLagMaxNs: worst((one) => one.loopLagMaxNs) } }),
  };
}

/** Returns the final state of a lost sender: requests that it had reported as ended count as sent. */
export function stateOfEnded(state: SenderState): SenderState {
  const { completedCount, failedCount, cancelledCount, lastSuccessNs, longestNs } = state;
  const endedCount = completedCount + failedCount + cancelledCount;
  const unsent = { count: 0, delayed: undefined };
  const nothing = { outstanding: 0, activeLanes: 0, quota: 0, isSending: false, unsent };
  const ended = { completedCount, failedCount, cancelledCount, lastSuccessNs, longestNs };
  return { ...nothing, ...ended, sentCount: endedCount, endedCount };
}

/** Adds the senders' reports about their connections. */
export function joinTotals(parts: readonly SenderTotals[]): SenderTotals {
  const received = known(parts.map((part) => part.received));
  const servers = known(parts.map((part) => part.servers));
  const sessions = known(parts.map((part) => part.sessions));
  return {
    ...sumsOf(parts, ["connectionCount", "slotCount", "resendCount"]),
    ...(received.length === 0
      ? {}
      : { received: { ...sumsOf(received, ["bytes", "unaskedCount"]), statuses: addStatuses(received) } }),
    servers: servers.length === 0 ? undefined : servers.reduce(addServers),
    sessions: sessions.length === 0 ? undefined : sessions.reduce(addSessions),
    hosts: parts.at(-1)?.hosts,
  };
}

function addStatuses(
  parts: readonly { readonly statuses: Readonly<Record<string, number>> }[],
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { statuses } of parts)
    for (const [status, count] of Object.entries(statuses)) counts[status] = (counts[status] ?? 0) + count;
  return counts;
}

/** Adds the counts of servers, which each sender lists in the same order. */
function addServers(a: readonly ServerLoad[], b: readonly ServerLoad[]): readonly ServerLoad[] {
  return a.map(({ name, ...counts }, index) => ({
    name,
    ...sumsOf([counts, b[index] ?? { sentCount: 0, failedCount: 0 }], ["sentCount", "failedCount"]),
  }));
}

function addSessions(a: SessionTally, b: SessionTally): SessionTally {
  const unreadReason = a.unreadReason ?? b.unreadReason;
  return {
    ...sumsOf([a, b], ["sessionCount", "cutCount", "unsentCount"]),
    ...defined({ unreadReason }),
  };
}

/** Joins the windows that senders have begun at the same time. */
export function joinBegun(parts: readonly BegunWindow[]): BegunWindow {
  return { number: parts[0]?.number ?? 0, startNs: Math.min(...parts.map(({ startNs }) => startNs)) };
}

/** Joins the windows that senders have ended at the same time. */
export function joinCuts(parts: readonly CutWindow[]): CutWindow {
  const byMember = known(parts.map(({ completedByMember }) => completedByMember));
  const queries = known(parts.map((part) => part.queries));
  const idle = known(parts.map((part) => part.idle));
  return {
    window: joinParallel(parts.map(({ window }) => window)),
    nextNumber: parts[0]?.nextNumber ?? 0,
    timelines: parts.flatMap(({ timelines }) => timelines),
    idle: idle.length === 0 ? undefined : joinIdleTimes(idle),
    queries: queries.length === 0 ? undefined : joinQueries(queries),
    ...(byMember.length === 0
      ? {}
      : { completedByMember: byMember.reduce((a, b) => a.map((count, member) => count + (b[member] ?? 0))) }),
  };
}

/** Joins the reports of senders on the same host, by its id; in the order of their first appearance. */
export function joinHosts(
  senders: readonly { readonly id: string; readonly part: SendingHost }[],
): readonly SendingHost[] {
  const hosts = new Map<string, SendingHost>();
  for (const { id, part } of senders) {
    const others = hosts.get(id);
    hosts.set(id, others === undefined ? part : joinHost(others, part));
  }
  return [...hosts.values()];
}

function joinHost(a: SendingHost, b: SendingHost): SendingHost {
  return {
    name: a.name,
    ...sumsOf([a, b], ["workerCount", "sentCount", "completedCount", "failedCount"]),
    // Both fields are from the same clock.
    clockOffsetNs: a.clockErrorNs > b.clockErrorNs ? a.clockOffsetNs : b.clockOffsetNs,
    clockErrorNs: Math.max(a.clockErrorNs, b.clockErrorNs),
    clockDriftNs: Math.abs(a.clockDriftNs) > Math.abs(b.clockDriftNs) ? a.clockDriftNs : b.clockDriftNs,
    lateNs: Math.max(a.lateNs, b.lateNs),
    ...(a.lost === undefined ? {} : { lost: b.lost === undefined ? a.lost : joinLost(a.lost, b.lost) }),
    ...joinStandstills([...(a.standstills ?? []), ...(b.standstills ?? [])]),
  };
}

/** Joins standstills of threads at the same time. */
function joinStandstills(all: readonly HostStandstill[]): Pick<SendingHost, "standstills"> {
  if (all.length === 0) return {};
  const standstills: HostStandstill[] = [];
  for (const one of all.toSorted((a, b) => a.startNs - b.startNs)) {
    const last = standstills.at(-1);
    if (last === undefined || last.endNs < one.startNs) standstills.push(one);
    else standstills.splice(-1, 1, { ...last, endNs: Math.max(last.endNs, one.endNs) });
  }
  return { standstills };
}

function joinLost(a: LostShare, b: LostShare): LostShare {
  return { ...a, ...sumsOf([a, b], ["uncountedCount", "loadRatio"]), fromNs: Math.min(a.fromNs, b.fromNs) };
}

function joinQueries(parts: readonly MlperfSample[]): MlperfSample {
  const joined = (pick: (part: MlperfSample) => Float64Array): Float64Array =>
    Float64Array.from(parts.flatMap((part) => [...pick(part)])).sort();
  return {
    sampleLatenciesNs: joined(({ sampleLatenciesNs }) => sampleLatenciesNs),
    queryLatenciesNs: joined(({ queryLatenciesNs }) => queryLatenciesNs),
    ...sumsOf(parts, ["failedCount", "failedQueryCount"]),
    lastDueNs: Math.max(...parts.map(({ lastDueNs }) => lastDueNs)),
    lastEndNs: Math.max(...parts.map(({ lastEndNs }) => lastEndNs)),
  };
}

/** Joins the tokens of senders that measure tokens themselves, and the tokens of each group of requests. */
export function joinLevelTokens(parts: readonly (LevelTokens | undefined)[]): LevelTokens | undefined {
  const all = known(parts);
  const tokens = joinTokens(all.map((part) => part.tokens));
  if (tokens === undefined) return undefined;
  const groups = known(all.map(({ groupTokens }) => groupTokens));
  if (groups.length === 0) return { tokens };
  const ofGroup = (group: number): TokenMeasurement | undefined => joinTokens(known(groups.map((one) => one[group])));
  return { tokens, groupTokens: groups[0]?.map((_, group) => ofGroup(group)) ?? [] };
}
