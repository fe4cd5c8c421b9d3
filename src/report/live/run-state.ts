import type { LevelUnitName } from "../../load/level-units.ts";
import { countLevels } from "../../load/levels.ts";
import { inferPerSec } from "../../measure/derived-values.ts";
import type { ExponentialHistogram } from "../../measure/exponential-histogram.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { RECORD_FAILED, type RecordColumns } from "../../measure/records.ts";
import { STABILITY_WINDOWS, StabilityJudge } from "../../measure/stability.ts";
import { Timeline } from "../../measure/timeline.ts";
import type { Plan } from "../../plan/plan.ts";
import { msToNs, nsToSec } from "../../plan/units.ts";
import { describeLevel } from "../../registry/level-names.ts";
import { loadModeOf, planOfPhase } from "../../registry/load-modes.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import type { PhasePlace, RunProgress } from "../../result/observer.ts";
import { type PreparedRun, REQUEST_COUNTS, type RequestCounts } from "../../result/run-result.ts";
import { nowNs, systemClock } from "../../runtime/clock.ts";
import { HealthMonitor } from "../../telemetry/health-monitor.ts";
import type { Report } from "../report.ts";
import {
  type LevelPlace,
  type LevelTally,
  RECENT_RATIOS,
  type RecentRates,
  type RecentWindows,
  type RunProgressRatio,
  type RunSnapshot,
} from "./run-snapshot.ts";

/** A run with more levels counts the later ones together, so that memory and metrics are bounded. */
const MOST_LEVELS = 100;
/** A younger snapshot is returned again, so that frequent readers cost nothing. */
const SNAPSHOT_NS = 100e6;
/** Rates and percentiles are those of the last 5 seconds of the level. Where readers come less often, they are those since the reader before, up to half a minute. */
const RECENT_NS = 5e9;
const COLUMNS = { mostColumns: 121, columnNs: 250e6, whenFull: "forget" } as const;

type CountName = keyof RequestCounts;
const NO_REQUESTS = countsBy(() => 0);

/** How much a run will do, as far as its plan fixes it. */
interface ExpectedExtent {
  /** Number of requests, with warm-up; undefined if time decides. */
  readonly requestCount: number | undefined;
  /** Duration of all levels, with warm-up; undefined if it is not fixed. */
  readonly durationNs: number | undefined;
}

/** Follows a run, and describes its state at any time. */
export class RunState implements Report {
  private readonly plan: Plan;
  private readonly clockNs: () => number;
  private readonly isStreaming: boolean;
  private readonly hasTokens: boolean;
  private readonly health: HealthMonitor;
  private readonly slots = new Map<string, LevelSlot>();
  private slot: LevelSlot;
  private progress: RunProgress | undefined;
  /** Counts of the progress that are already part of a slot. */
  private settled = NO_REQUESTS;
  private extent: ExpectedExtent = { requestCount: undefined, durationNs: undefined };
  private readings: readonly Reading[] = [];
  private windows: SeenWindows | undefined;
  private startNs = 0;
  private firstLevelNs: number | undefined;
  private last: { readonly atNs: number; readonly snapshot: RunSnapshot } | undefined;
  private isFinished = false;

  /** @param clockNs default: the run's clock */
  constructor(plan: Plan, clockNs: () => number = nowNs) {
    this.plan = plan;
    this.clockNs = clockNs;
    this.isStreaming = plan.target.isStreaming;
    this.hasTokens = tokensPlanOf(plan) !== undefined;
    this.health = new HealthMonitor(systemClock, targetKindOf(plan.target).isInProcess === true);
    this.slot = new LevelSlot(this.isStreaming);
  }

  onProgress(progress: RunProgress): void {
    this.settle();
    if (this.progress === undefined) this.startNs = this.clockNs();
    this.progress = progress;
    this.settled = NO_REQUESTS;
    this.firstLevelNs = undefined;
    this.restartRates();
    this.health.start();
  }

  onPrepared(prepared: PreparedRun): void {
    this.extent = expectExtent(prepared);
  }

  onLevelStart(unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void {
    this.settle();
    this.firstLevelNs ??= this.clockNs();
    // Its recent seconds are over.
    this.slot.timeline.restart(this.clockNs());
    const plan = planOfPhase(this.plan, phase?.index);
    const place: LevelPlace = {
      ...{ unit, level, name: describeLevel(plan, level), isWarmup },
      ...(phase === undefined ? {} : { phase: { number: phase.index + 1, count: phase.count, label: phase.label } }),
    };
    this.slot = this.slotOf(place);
    this.slot.current = place;
    this.windows = new SeenWindows(plan);
    this.restartRates();
    this.last = undefined;
  }

  onBatch(records: RecordColumns, count: number): void {
    const { slot } = this;
    const { flags, responseCount } = records;
    slot.timeline.add(records, count);
    for (let row = 0; row < count; row++)
      if (((flags[row] as number) & RECORD_FAILED) === 0) slot.responseCount += responseCount[row] as number;
  }

  onWindow(_trial: number, window: Measurement, latencyNs: number): void {
    this.windows?.add(inferPerSec(window, this.plan.target.batchSize), latencyNs);
  }

  onEmptyWindow(): void {
    this.windows?.add(0, Number.POSITIVE_INFINITY);
  }

  finish(): void {
    this.end();
  }

  discard(): void {
    this.end();
  }

  /** Whether the run has ended, and its state no longer changes. */
  get isEnded(): boolean {
    return this.isFinished;
  }

  /** Returns the state; the same object to those who ask again soon. Undefined before the run begins. */
  snapshot(): RunSnapshot | undefined {
    const { last, progress } = this;
    if (progress === undefined) return undefined;
    const atNs = this.clockNs();
    if (last !== undefined && (this.isFinished || atNs - last.atNs < SNAPSHOT_NS)) return last.snapshot;
    const snapshot = this.read(progress, atNs);
    this.last = { atNs, snapshot };
    return snapshot;
  }

  private end(): void {
    if (this.isFinished) return;
    this.last = undefined;
    this.settle();
    this.isFinished = true;
    this.snapshot();
    this.health.stop();
  }

  private read(progress: RunProgress, atNs: number): RunSnapshot {
    this.settle();
    const levels = this.levels();
    const counts = countsBy((name) => levels.reduce((sum, level) => sum + level[name], 0));
    const { cpuRatio, loopLagMaxNs } = this.health.take();
    const { outstanding, client = { cpuRatio, loopLagMaxNs } } = progress.counts();
    const elapsedSec = nsToSec(atNs - this.startNs);
    return {
      ...counts,
      elapsedSec,
      place: this.slot.current,
      outstanding,
      recent: this.recentRates(atNs, this.responsesOf(levels, progress)),
      windows: this.windows?.read(),
      progress: this.progressAt(atNs),
      client,
      levels,
      isFinished: this.isFinished,
    };
  }

  private progressAt(atNs: number): RunProgressRatio | undefined {
    const { requestCount, durationNs } = this.extent;
    const passedNs = this.firstLevelNs === undefined ? 0 : atNs - this.firstLevelNs;
    if (requestCount !== undefined) {
      const doneRatio = Math.min(1, endedOf(this.settled) / requestCount);
      const leftSec = doneRatio > 0 ? nsToSec(passedNs / doneRatio - passedNs) : undefined;
      return { doneRatio, leftSec, requestCount };
    }
    if (durationNs === undefined || durationNs <= 0) return undefined;
    const leftSec = nsToSec(Math.max(0, durationNs - passedNs));
    return { doneRatio: Math.min(1, passedNs / durationNs), leftSec, requestCount };
  }

  /** Adds what has happened since the last call to the current level. */
  private settle(): void {
    const { progress, settled, slot } = this;
    if (progress === undefined || this.isFinished) return;
    progress.drainRecords();
    const counts = progress.counts();
    this.settled = countsBy((name) => counts[name]);
    for (const name of REQUEST_COUNTS) slot[name] += counts[name] - settled[name];
  }

  private slotOf(place: LevelPlace): LevelSlot {
    const { unit, level, isWarmup, phase } = place;
    const key = `${unit} ${level} ${isWarmup} ${phase?.number}`;
    const isFirst = this.slots.size === 0;
    const isOwn = this.slots.size < MOST_LEVELS || this.slots.has(key);
    const slotKey = isOwn ? key : "";
    // Requests before the first level belong to it.
    const slot = this.slots.get(slotKey) ?? (isFirst ? this.slot : new LevelSlot(this.isStreaming));
    if (isOwn) slot.place = place;
    this.slots.set(slotKey, slot);
    return slot;
  }

  private levels(): readonly LevelSlot[] {
    return this.slots.size === 0 ? [this.slot] : [...this.slots.values()];
  }

  /** @param responseCount of all requests until now. Responses come also before their request ends */
  private recentRates(atNs: number, responseCount: number): RecentRates {
    const oldest = this.readings.findLastIndex((reading) => reading.atNs <= atNs - RECENT_NS);
    this.readings = [...this.readings.slice(Math.max(0, oldest)), { atNs, responseCount }];
    const [first] = this.readings as [Reading];
    const { sinceNs, latency, firstResponse, ...counts } = this.slot.timeline.recent(first.atNs, atNs);
    return {
      requestsPerSec: perSec(counts.requestCount + counts.failedCount + counts.cancelledCount, atNs - sinceNs),
      chunksPerSec: this.isStreaming ? perSec(responseCount - first.responseCount, atNs - first.atNs) : undefined,
      latencyNs: latency.quantiles(RECENT_RATIOS),
      firstResponseNs: this.hasTokens ? undefined : firstResponse.quantiles(RECENT_RATIOS),
    };
  }

  private responsesOf(levels: readonly LevelTally[], progress: RunProgress): number {
    return levels.reduce((sum, { responseCount }) => sum + responseCount, progress.counts().openResponses);
  }

  private restartRates(): void {
    const levels = this.levels();
    const responseCount = this.progress === undefined ? 0 : this.responsesOf(levels, this.progress);
    const atNs = this.clockNs();
    this.slot.timeline.restart(atNs);
    this.readings = [{ atNs, responseCount }];
  }
}

/** How many responses there were when a reader came. */
interface Reading {
  readonly atNs: number;
  readonly responseCount: number;
}

class LevelSlot implements LevelTally {
  place: LevelPlace | undefined;
  /** The level that counts here now. */
  current: LevelPlace | undefined;
  sentCount = 0;
  completedCount = 0;
  failedCount = 0;
  cancelledCount = 0;
  responseCount = 0;
  readonly timeline: Timeline;
  private readonly isStreaming: boolean;

  constructor(isStreaming: boolean) {
    this.isStreaming = isStreaming;
    this.timeline = new Timeline(0, { ...COLUMNS, isStreamed: isStreaming });
  }

  get latency(): ExponentialHistogram {
    return this.timeline.total().latency;
  }

  get firstResponse(): ExponentialHistogram | undefined {
    return this.isStreaming ? this.timeline.total().firstResponse : undefined;
  }
}

/** The windows of one level. */
class SeenWindows {
  private readonly judge: StabilityJudge | undefined;
  private readonly atMost: number | undefined;
  private readonly toleranceRatio: number | undefined;
  private count = 0;

  constructor({ measurement: { mode } }: Plan) {
    if (!("stabilityPct" in mode)) return;
    this.atMost = mode.maxTrials;
    this.toleranceRatio = mode.stabilityPct / 100;
    this.judge = new StabilityJudge({ toleranceRatio: this.toleranceRatio, latencyLimitNs: undefined });
  }

  add(perSec: number, latencyNs: number): void {
    this.count++;
    this.judge?.add(perSec, latencyNs);
  }

  read(): RecentWindows | undefined {
    const { atMost, count, judge, toleranceRatio } = this;
    if (count === 0 && judge === undefined) return undefined;
    const spread = count < STABILITY_WINDOWS ? undefined : judge?.spread;
    return { count, atMost, spread, toleranceRatio, isStable: judge?.isStable };
  }
}

function countsBy(countOf: (name: CountName) => number): RequestCounts {
  return Object.fromEntries(REQUEST_COUNTS.map((name) => [name, countOf(name)])) as Record<CountName, number>;
}

function perSec(count: number, ns: number): number {
  return ns > 0 ? Math.max(0, count) / nsToSec(ns) : 0;
}

function endedOf({ completedCount, failedCount, cancelledCount }: RequestCounts): number {
  return completedCount + failedCount + cancelledCount;
}

/** Returns the extent of a run. */
function expectExtent({ plan, requestCount }: PreparedRun): ExpectedExtent {
  const { warmupRequests, warmupMs = 0 } = plan.measurement;
  const phases = loadModeOf(plan.load).phases?.(plan.load);
  if (phases !== undefined)
    return {
      requestCount: undefined,
      durationNs: sum(phases.map((_, index) => levelsNs(planOfPhase(plan, index), 0))),
    };
  const levelCount = levelCountOf(plan);
  // The number of requests in a timed warm-up is unknown.
  const isCounted = requestCount !== undefined && warmupMs === 0 && levelCount !== undefined;
  return {
    requestCount: isCounted ? (requestCount + warmupRequests) * levelCount : undefined,
    durationNs: warmupRequests > 0 ? undefined : levelsNs(plan, warmupMs),
  };
}

/** Returns the duration of all levels of a load without phases; undefined if it is not fixed. */
function levelsNs(plan: Plan, warmupMs: number): number | undefined {
  const { mode } = plan.measurement;
  const levelCount = levelCountOf(plan);
  if (mode.kind !== "duration" || levelCount === undefined) return undefined;
  return msToNs((mode.durationMs + warmupMs) * levelCount);
}

/** Returns the number of levels; undefined if it depends on what is measured. */
function levelCountOf({ load }: Plan): number | undefined {
  const asked = loadModeOf(load).levels?.(load);
  const count = asked === undefined ? 1 : countLevels(asked.levels);
  return asked === undefined || asked.search === "linear" || count === 1 ? count : undefined;
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  let total = 0;
  for (const value of values) {
    if (value === undefined) return undefined;
    total += value;
  }
  return total;
}
