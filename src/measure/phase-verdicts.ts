import type { PhasePlan, RecoveryPlan } from "../plan/load-options.ts";
import { formatDurationNs, formatPct, msToNs, nsToSec, secToNs } from "../plan/units.ts";
import { welchFreedom } from "./compare/change.ts";
import { certaintyOf } from "./intervals/certainty.ts";
import { studentQuantile } from "./intervals/distributions.ts";
import { meanOfRuns } from "./intervals/over-runs.ts";
import { NOTHING_COMPLETED } from "./limits/judge-part.ts";
import { formatNiceTime, timesToDecide } from "./limits/requests-needed.ts";
import type { Measurement } from "./measurement.ts";
import { percentileAt } from "./sketch.ts";
import type { TimelineBucket } from "./timeline.ts";
import { judgeInterval, type VerdictState, worstState } from "./verdict-state.ts";

/** Judges the phases of a soak or spike test. Everything is computed from their timelines. */

export interface PhaseLevel {
  readonly phase?: { readonly index: number };
  /** `partial`: the run ended within the phase. */
  readonly outcome?: string;
  readonly window: Measurement;
  readonly timeline: readonly TimelineBucket[];
}

/** The relative change from the first third of a time span to the last: 0.1 is 10 % more. */
export interface Change {
  /** Mean of the intervals of the first third. Latency: nanoseconds; throughput: requests per second. */
  readonly first: number;
  readonly last: number;
  readonly ratio: number;
  /** 95 % confidence interval of the ratio. */
  readonly lowRatio: number;
  readonly highRatio: number;
}

/** Change of a phase's latency and throughput. */
interface Drift {
  readonly latency: Change;
  readonly throughput: Change;
}

interface Recovery {
  /** Median latency that counts as normal, in nanoseconds. */
  readonly baseNs: number;
  /** Time until the latency was normal again, in nanoseconds; undefined if it never was. */
  readonly tookNs: number | undefined;
  /** Length of the intervals in which the latency was measured, in nanoseconds: the resolution of `tookNs`. */
  readonly intervalNs: number;
}

/** Result of a phase's check. */
export interface PhaseVerdict {
  readonly phaseIndex: number;
  readonly state: VerdictState;
  readonly text: string;
  /** The measured values, or the reason why there are none. */
  readonly measured: string;
  readonly drift?: Drift | undefined;
  readonly recovery?: Recovery | undefined;
}

/**
 * Evaluates the checks of all phases. A check without enough data is unresolved, and so is a check of a phase that did not run
 * to its end.
 */
export function judgePhases(phases: readonly PhasePlan[], levels: readonly PhaseLevel[]): PhaseVerdict[] {
  const levelOf = (index: number): PhaseLevel | undefined => levels.find(({ phase }) => phase?.index === index);
  return phases.flatMap(({ drift, recovery }, index): PhaseVerdict[] => {
    const level = levelOf(index);
    const verdicts: PhaseVerdict[] = [];
    if (drift !== undefined) verdicts.push({ phaseIndex: index, ...judgeDrift(drift, level) });
    if (recovery !== undefined) {
      const peak = phases[index - 1]?.name ?? "the phase before";
      verdicts.push({ phaseIndex: index, ...judgeRecovery(recovery, levelOf(recovery.baseIndex), level, peak) });
    }
    return verdicts;
  });
}

const FEWEST_INTERVALS = 3;

/**
 * Compares the means of the first and the last third of the intervals, with Welch's t interval of the difference. Means of
 * intervals are almost independent, but single requests are not. Undefined if a third has fewer than three intervals with a
 * successful request.
 */
export function measureDrift(buckets: readonly TimelineBucket[]): Drift | undefined {
  const count = Math.floor(buckets.length / 3);
  const thirds = [buckets.slice(0, count), buckets.slice(buckets.length - count)] as const;
  const latencies = thirds.map((third) => third.flatMap(({ latency }) => latency?.meanNs ?? []));
  const rates = thirds.map((third) =>
    third.map(({ requestCount, startNs, endNs }) => secToNs(requestCount / (endNs - startNs))),
  );
  const [firstLatency = [], lastLatency = []] = latencies;
  const [firstRate = [], lastRate = []] = rates;
  if (Math.min(firstLatency.length, lastLatency.length) < FEWEST_INTERVALS) return undefined;
  return { latency: changeBetween(firstLatency, lastLatency), throughput: changeBetween(firstRate, lastRate) };
}

/** @param first positive on average */
function changeBetween(first: readonly number[], last: readonly number[]): Change {
  const [a, b] = [meanOfRuns(first), meanOfRuns(last)];
  const [va, vb] = [a, b].map(({ variance = 0, count }) => variance / count) as [number, number];
  const ratio = b.mean / a.mean;
  // Delta method: the variance of a ratio of two means.
  const variance = vb / a.mean ** 2 + (ratio ** 2 * va) / a.mean ** 2;
  const freedom = welchFreedom(va, a.count, vb, b.count);
  const half = variance === 0 ? 0 : studentQuantile(0.975, freedom) * Math.sqrt(variance);
  return { first: a.mean, last: b.mean, ratio: ratio - 1, lowRatio: ratio - half - 1, highRatio: ratio + half - 1 };
}

const NOT_REACHED = "the run ended before this phase did";

/** The drift passes or fails if the whole intervals of both changes are on the same side of the limit. */
function judgeDrift(
  { maxRatio }: NonNullable<PhasePlan["drift"]>,
  level: PhaseLevel | undefined,
): Omit<PhaseVerdict, "phaseIndex"> {
  const text = `drift of latency and throughput at most ${formatPct(maxRatio)} for the worse`;
  if (level === undefined || level.outcome === "partial") return { state: "unresolved", text, measured: NOT_REACHED };
  const drift = measureDrift(level.timeline);
  if (drift === undefined)
    return { state: "unresolved", text, measured: "the phase was too short to compare its thirds" };
  const { latency, throughput } = drift;
  const isInterrupted = level.window.gaps !== undefined;
  const judgePart = (change: Change, comparison: "at-most" | "at-least", limit: number) => {
    const found = { value: change.ratio, low: change.lowRatio, high: change.highRatio };
    return { state: judgeInterval({ comparison, limit }, found), times: timesToDecide(found, limit) };
  };
  const parts = [judgePart(latency, "at-most", maxRatio), judgePart(throughput, "at-least", -maxRatio)];
  const state = worstState([isInterrupted ? "unresolved" : "pass", ...parts.map((part) => part.state)]);
  const times = Math.max(...parts.filter((part) => part.state === "unresolved").map((part) => part.times));
  const why = isInterrupted ? NOTHING_COMPLETED : `too uncertain; ${adviseHold(times, level.window.durationNs)}`;
  const open = state === "unresolved" ? `: ${why}` : "";
  const measured = `latency ${describeChange(latency)}, throughput ${describeChange(throughput)}${open}`;
  return { state, text, measured, drift };
}

/** More data than this multiple would not help: the change is at its limit. */
const MOST_TIMES = 20;

function adviseHold(times: number, durationNs: number): string {
  if (!(times <= MOST_TIMES)) return "the change is close to its limit";
  return `hold the load for about ${formatNiceTime(nsToSec(durationNs) * times)}`;
}

/** Describes a change, with its interval only if it is informative. */
function describeChange({ ratio, lowRatio, highRatio }: Change): string {
  const found = certaintyOf({ value: 1 + ratio, low: 1 + lowRatio, high: 1 + highRatio });
  return found.isCertain ? `${signed(ratio)} (${signed(lowRatio)} to ${signed(highRatio)})` : signed(ratio);
}

/** Number of consecutive intervals in which the latency must be normal. */
const CALM_INTERVALS = 3;

/** Returns the time until the median latency was normal again; undefined if the timeline or the base has too little data. */
export function measureRecovery(
  { withinRatio }: Pick<RecoveryPlan, "withinRatio">,
  base: PhaseLevel | undefined,
  { timeline }: Pick<PhaseLevel, "timeline">,
): Recovery | undefined {
  const [first] = timeline;
  if (base === undefined || base.window.requestCount === 0) return undefined;
  if (first === undefined || timeline.length < CALM_INTERVALS) return undefined;
  const baseNs = percentileAt(base.window.latency, 50);
  const limitNs = baseNs * (1 + withinRatio);
  const isNormal = ({ latency }: TimelineBucket): boolean => latency !== undefined && latency.p50Ns <= limitNs;
  const at = timeline.findIndex((_, index) => {
    const row = timeline.slice(index, index + CALM_INTERVALS);
    return row.length === CALM_INTERVALS && row.every(isNormal);
  });
  return { baseNs, tookNs: timeline[at]?.startNs, intervalNs: first.endNs - first.startNs };
}

function judgeRecovery(
  plan: RecoveryPlan,
  base: PhaseLevel | undefined,
  level: PhaseLevel | undefined,
  peak: string,
): Omit<PhaseVerdict, "phaseIndex"> {
  const { withinRatio, limitMs } = plan;
  const limit = limitMs === undefined ? "" : ` within ${formatDurationNs(msToNs(limitMs))}`;
  const text = `median latency back after ${peak}${limit}, to at most ${formatPct(withinRatio)} above the base`;
  if (level === undefined) return { state: "unresolved", text, measured: NOT_REACHED };
  const recovery = measureRecovery(plan, base, level);
  if (recovery === undefined) return { state: "unresolved", text, measured: "too little was measured to compare" };
  const { baseNs, tookNs, intervalNs } = recovery;
  const of = `of ${formatDurationNs(baseNs)}, in intervals of ${formatDurationNs(intervalNs)}`;
  const limitNs = limitMs === undefined ? undefined : msToNs(limitMs);
  if (tookNs === undefined) {
    // The latency never recovered: certain once the limit has passed, or without a limit once the phase is over.
    const measuredNs = level.timeline.at(-1)?.endNs ?? 0;
    const isOver = limitNs === undefined ? level.outcome !== "partial" : measuredNs >= limitNs;
    const state = isOver ? "fail" : "unresolved";
    return { state, text, measured: `not back to the median ${of}, after ${formatDurationNs(measuredNs)}`, recovery };
  }
  const state = limitNs === undefined || tookNs <= limitNs ? "pass" : "fail";
  const took = tookNs === 0 ? "at once" : `after ${formatDurationNs(tookNs)}`;
  return { state, text, measured: `back ${took} to the median ${of}`, recovery };
}

function signed(ratio: number): string {
  return `${ratio > 0 ? "+" : ""}${formatPct(ratio)}`;
}
