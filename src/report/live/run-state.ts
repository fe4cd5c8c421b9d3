import type { LevelUnitName } from "../../load/level-units.ts";
import { inferPerSec } from "../../measure/derived-values.ts";
import type { ExponentialHistogram } from "../../measure/exponential-histogram.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { RECORD_FAILED, type RecordColumns } from "../../measure/records.ts";
import { STABILITY_WINDOWS, StabilityJudge } from "../../measure/stability.ts";
import { Timeline } from "../../measure/timeline.ts";
import { isUntilStable, type Plan } from "../../plan/plan.ts";
import { nsToSec } from "../../plan/units.ts";
import { describeLevel, levelTitles } from "../../registry/level-names.ts";
import { planOfPhase } from "../../registry/load-modes.ts";
import { shownUnitOf, tokensPlanOf } from "../../registry/mix.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import type { PhasePlace, RunProgress } from "../../result/observer.ts";
import { type PreparedRun, REQUEST_COUNTS, type RequestCounts } from "../../result/run-result.ts";
import { nowNs, systemClock } from "../../runtime/clock.ts";
import { hasText, type ResponseKind } from "../../service/openai/response-kind.ts";
import { LoadMonitor } from "../../telemetry/health-monitor.ts";
import type { Report } from "../report.ts";
import { FollowedTokens, LevelTokens } from "./level-tokens.ts";
import { type ExpectedExtent, expectExtent, progressOf, UsedTime } from "./run-extent.ts";
import {
  type LevelPlace,
  type LevelTally,
  RECENT_RATIOS,
  type RecentRates,
  type RecentWindows,
  type RunSnapshot,
} from "./run-snapshot.ts";

/** Maximum number of levels that are counted separately. Later levels are counted together, so that memory and metrics are bounded. */
const MOST_LEVELS = 100;
/** A snapshot younger than this is returned again, so that frequent readers cost nothing. */
const SNAPSHOT_NS = 100e6;
/** Rates and percentiles cover the last 5 seconds of the level, or the time since the previous reading, up to half a minute. */
const RECENT_NS = 5e9;
const COLUMNS = { mostColumns: 121, columnNs: 250e6, whenFull: "forget" } as const;

type CountName = keyof RequestCounts;
const NO_REQUESTS = countsBy(() => 0);

/** Follows a run, and describes its state at any time. */
export class RunState implements Report {
  private readonly plan: Plan;
  private readonly clockNs: () => number;
  private readonly isStreaming: boolean;
  /** Whether the first response is timed. Where tokens are measured it is not: it may only be the head of the stream. */
  private readonly timesFirst: boolean;
  /** Whether responses have text, so that their tokens are times and rates. */
  private readonly hasText: boolean;
  private readonly load: LoadMonitor;
  private readonly slots = new Map<string, LevelSlot>();
  private slot: LevelSlot;
  private progress: RunProgress | undefined;
  /** Counts of the progress that have already been added to a slot. */
  private settled = NO_REQUESTS;
  /** Time at which the counts were last settled. */
  private settledNs = 0;
  private readonly tokens = new FollowedTokens();
  private extent: ExpectedExtent = { requestCount: undefined, durationNs: undefined };
  private readings: readonly Reading[] = [];
  private windows: SeenWindows | undefined;
  private startNs = 0;
  private used = new UsedTime();
  private last: { readonly atNs: number; readonly snapshot: RunSnapshot } | undefined;
  private isFinished = false;

  /** @param clockNs default: the run's clock */
  constructor(plan: Plan, clockNs: () => number = nowNs) {
    this.plan = plan;
    this.clockNs = clockNs;
    this.isStreaming = plan.target.isStreaming;
    const tokens = tokensPlanOf(plan);
    this.timesFirst = this.isStreaming && tokens === undefined;
    this.hasText = tokens !== undefined && hasText(tokens.responses as ResponseKind);
    this.load = new LoadMonitor(systemClock, targetKindOf(plan.target).isInProcess === true);
    this.slot = new LevelSlot(this.timesFirst, this.hasText);
  }

  onProgress(progress: RunProgress): void {
    this.settle();
    if (this.progress === undefined) this.startNs = this.clockNs();
    this.progress = progress;
    this.settled = NO_REQUESTS;
    this.used = new UsedTime();
    this.tokens.begin(progress);
    this.restartRates();
    this.load.start();
  }

  onPrepared(prepared: PreparedRun): void {
    this.extent = expectExtent(prepared);
  }

  onLevelStart(unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void {
    this.settle();
    // Tokens up to now belong to the previous level.
    this.tokens.ask(this.slot, this.clockNs());
    this.used.begin(this.clockNs());
    // The recent seconds of the previous level are over.
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

  /** Queries the tokens, because their measurement may end soon. */
  onLevelEnd(): void {
    this.settle();
    this.tokens.ask(this.slot, this.clockNs());
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

  onWait(mostMs: number | undefined): void {
    this.used.wait(mostMs, this.clockNs());
    this.last = undefined;
  }

  /** Waits briefly for the last tokens. */
  finish(): Promise<void> | undefined {
    const reply = this.tokens.waitForReply();
    if (reply !== undefined) return reply.then(() => this.end());
    this.end();
    return undefined;
  }

  discard(): void {
    this.end();
  }

  /** Whether the run has ended, so that its state no longer changes. */
  get isEnded(): boolean {
    return this.isFinished;
  }

  /** Returns the state; the same object for calls in quick succession. Undefined before the run begins. */
  snapshot(): RunSnapshot | undefined {
    const { last, progress } = this;
    if (progress === undefined) return undefined;
    const atNs = this.clockNs();
    if (last !== undefined && (this.isFinished || atNs - last.atNs < SNAPSHOT_NS)) return last.snapshot;
    const snapshot = this.read(progress, atNs);
    this.last = { atNs, snapshot };
    return snapshot;
  }

  /** Returns the state with the tokens up to now, if they are known soon. */
  async freshSnapshot(): Promise<RunSnapshot | undefined> {
    if (this.progress !== undefined && !this.isFinished && this.slot.tokens !== undefined) {
      this.settle();
      await this.tokens.askAndWait(this.slot, this.clockNs());
      if (!this.isFinished) this.last = undefined;
    }
    return this.snapshot();
  }

  private end(): void {
    if (this.isFinished) return;
    this.last = undefined;
    this.settle();
    this.isFinished = true;
    this.snapshot();
    this.load.stop();
  }

  private read(progress: RunProgress, atNs: number): RunSnapshot {
    this.settle();
    const levels = this.levels();
    const counts = countsBy((name) => levels.reduce((sum, level) => sum + level[name], 0));
    const load = this.load.take();
    const { outstanding, client = load } = progress.counts();
    const elapsedSec = nsToSec(atNs - this.startNs);
    this.tokens.askAgain(this.slot, atNs);
    return {
      ...counts,
      ...{ levelTitle: levelTitles(this.plan).column, unit: shownUnitOf(this.plan) },
      elapsedSec,
      place: this.slot.current,
      outstanding,
      waitSec: this.isFinished ? undefined : this.used.waitSec(atNs),
      recent: this.recentRates(atNs, this.responsesOf(levels, progress)),
      windows: this.windows?.read(),
      progress: progressOf(this.extent, endedOf(this.settled), this.used.passedNs(atNs)),
      client,
      levels,
      isFinished: this.isFinished,
    };
  }

  /** Adds the counts since the last call to the current level. */
  private settle(): void {
    const { progress, settled, slot } = this;
    if (progress === undefined || this.isFinished) return;
    progress.drainRecords();
    const counts = progress.counts();
    const atNs = this.clockNs();
    if (this.used.hasBegun) slot.spentNs += atNs - this.settledNs;
    this.settledNs = atNs;
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
    const slot = this.slots.get(slotKey) ?? (isFirst ? this.slot : new LevelSlot(this.timesFirst, this.hasText));
    if (isOwn) slot.place = place;
    this.slots.set(slotKey, slot);
    return slot;
  }

  private levels(): readonly LevelSlot[] {
    return this.slots.size === 0 ? [this.slot] : [...this.slots.values()];
  }

  /** @param responseCount number of responses to all requests so far. Responses also arrive before their request ends */
  private recentRates(atNs: number, responseCount: number): RecentRates {
    const oldest = this.readings.findLastIndex((reading) => reading.atNs <= atNs - RECENT_NS);
    this.readings = [...this.readings.slice(Math.max(0, oldest)), { atNs, responseCount }];
    const [first] = this.readings as [Reading];
    const { sinceNs, latency, firstResponse, ...counts } = this.slot.timeline.recent(first.atNs, atNs);
    return {
      requestsPerSec: perSec(counts.requestCount + counts.failedCount + counts.cancelledCount, atNs - sinceNs),
      chunksPerSec: this.isStreaming ? perSec(responseCount - first.responseCount, atNs - first.atNs) : undefined,
      latencyNs: latency.quantiles(RECENT_RATIOS),
      firstResponseNs: firstResponse.quantiles(RECENT_RATIOS),
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

/** Number of responses at the time of a reading. */
interface Reading {
  readonly atNs: number;
  readonly responseCount: number;
}

class LevelSlot implements LevelTally {
  place: LevelPlace | undefined;
  /** The level in whose slot counts are now added. */
  current: LevelPlace | undefined;
  sentCount = 0;
  completedCount = 0;
  failedCount = 0;
  cancelledCount = 0;
  responseCount = 0;
  spentNs = 0;
  readonly tokens: LevelTokens | undefined;
  readonly timeline: Timeline;
  private readonly timesFirst: boolean;

  constructor(timesFirst: boolean, hasText: boolean) {
    this.timesFirst = timesFirst;
    this.tokens = hasText ? new LevelTokens() : undefined;
    this.timeline = new Timeline(0, { ...COLUMNS, isStreamed: timesFirst });
  }

  get latency(): ExponentialHistogram {
    return this.timeline.total().latency;
  }

  get firstResponse(): ExponentialHistogram | undefined {
    return this.timesFirst ? this.timeline.total().firstResponse : undefined;
  }
}

class SeenWindows {
  private readonly judge: StabilityJudge | undefined;
  private readonly atMost: number | undefined;
  private readonly toleranceRatio: number | undefined;
  private count = 0;

  constructor({ measurement: { mode } }: Plan) {
    if (!isUntilStable(mode)) return;
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
