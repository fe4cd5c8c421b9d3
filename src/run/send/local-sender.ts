import {
  closedConcurrencyOf,
  type Drive,
  divideDrive,
  isScheduled,
  leastInFlightOf,
  limitConcurrency,
  roundSizeOf,
  shareOfDrive,
} from "../../load/drive.ts";
import type { PreparedLoad } from "../../load/load-mode.ts";
import { countOf, type Share, WHOLE } from "../../load/share.ts";
import { Timeline } from "../../measure/timeline.ts";
import type { LevelTokens, RunTokens } from "../../measure/tokens/run-tokens.ts";
import type { TotalledTokens } from "../../measure/tokens/token-totals.ts";
import type { ProgressCounts } from "../../result/observer.ts";
import type { HealthMonitor } from "../../telemetry/health-monitor.ts";
import type { TallyParts } from "../count/tallies.ts";
import {
  type BegunWindow,
  type CountOptions,
  type CutWindow,
  type LastWindow,
  type LevelMeter,
  WindowCounter,
} from "../count/window-counter.ts";
import type { RequestGroups } from "../groups/request-groups.ts";
import type { Canceller } from "./canceller.ts";
import type { Driver } from "./driver.ts";
import { untilRoundEnds, untilSteady } from "./end-waits.ts";
import { type BeginChange, LoadStarter } from "./load-starter.ts";
import type {
  ClosedSender,
  Drained,
  LevelStart,
  LoadChange,
  LoadSender,
  LoadStep,
  Moment,
  QueryMinimums,
  RunStart,
  SenderState,
  SenderTotals,
  TakenSpan,
} from "./messages.ts";
import type { SessionFeed } from "./session-feed.ts";

/** A load, and a sender's part of it. */
interface OwnedDrive {
  readonly whole: Drive;
  readonly share: Share;
  readonly drive: Drive;
}

/** Parameters that determine how a level is sent. */
interface DriveParts {
  readonly driver: Driver;
  /** This sender's share of the load. Default: all of it. */
  readonly share?: Share | undefined;
  /** The session feed, for a load of sessions. */
  readonly sessions: Pick<SessionFeed, "tally" | "turnCount" | "turnCountOf"> | undefined;
  readonly load: { readonly phases: readonly { readonly load: Pick<PreparedLoad, "drive"> }[] };
  /** Due time of each step, when the load follows the data. */
  readonly timestampsMs: readonly number[];
}

/** Returns how a level is sent by all senders together. */
function driveOf({ load, timestampsMs }: DriveParts, step: LoadStep): Drive {
  const { phaseIndex, level, draw, mostRequests } = step;
  const phase = load.phases[phaseIndex];
  if (phase === undefined) throw new Error(`the load has no phase ${phaseIndex}`);
  const drive = phase.load.drive(level, timestampsMs, draw);
  return mostRequests === undefined ? drive : limitConcurrency(drive, mostRequests);
}

/** Returns a sender's part of a load. @param sender its share of loads that are divided among all senders */
function ownDrive(whole: Drive, sender: Share, { sequences, lanes }: Pick<Driver, "sequences" | "lanes">): OwnedDrive {
  if (sender.count === 1) return { whole, share: sender, drive: whole };
  const share = shareOfDrive(whole, sender, sequences === undefined ? undefined : lanes.sequenceCount);
  return { whole, share, drive: divideDrive(whole, share) };
}

/** A sender's part of the current load. */
class Ownership {
  private readonly parts: DriveParts;
  /** Its share of loads that are divided among all senders. */
  private readonly whole: Share;
  private running: OwnedDrive | undefined;

  constructor(parts: DriveParts) {
    this.parts = parts;
    this.whole = parts.share ?? WHOLE;
  }

  /** Returns its part of a load. */
  of(step: LoadStep): OwnedDrive {
    return ownDrive(driveOf(this.parts, step), this.whole, this.parts.driver);
  }

  /** Sets the current load. @param firstNumber see {@link LevelStart} */
  use(owned: OwnedDrive, firstNumber: number | undefined): void {
    this.running = owned;
    const { whole, share } = owned;
    if (this.whole.count === 1) return;
    const { feed, laneCount, client } = this.parts.driver;
    client.ownPart?.({ first: share.index, stride: share.count, isScheduled: isScheduled(whole) });
    const concurrency = closedConcurrencyOf(whole);
    feed?.ownPart(share, concurrency && Math.min(concurrency, laneCount * share.count), firstNumber);
  }

  /** Whether it has no part of the current load. */
  get isNothing(): boolean {
    const { index, count } = this.running?.share ?? WHOLE;
    return index >= count;
  }

  /** Number of requests that the sender keeps in flight, in rounds. Undefined: the load has no rounds. */
  get roundSize(): number | undefined {
    return this.running && roundSizeOf(this.running.drive);
  }

  /** Returns its share of a number of requests of the current load. Sessions are not divided. */
  shareOf(requestCount: number): number {
    const { sessions } = this.parts;
    const share = this.running?.share ?? WHOLE;
    return requestCount === sessions?.turnCount ? sessions.turnCountOf(share) : countOf(requestCount, share);
  }
}

/** Dependencies of a sender in this thread. */
export interface LocalSenderParts extends TallyParts, DriveParts {
  readonly groups?: RequestGroups | undefined;
  readonly meter: LevelMeter;
  readonly health: HealthMonitor;
  /** Cancels some of the requests; undefined when the plan requests none. */
  readonly canceller: Canceller | undefined;
  /** Measures the tokens of responses; undefined when the plan requests none. */
  readonly tokens: RunTokens | undefined;
}

/** Sends from the conductor's thread. */
export class LocalSender implements LoadSender {
  private readonly parts: LocalSenderParts;
  private readonly driver: Driver;
  private readonly loads: LoadStarter;
  private readonly counter: WindowCounter;
  /** Starts the prepared level. */
  private next: BeginChange | undefined;
  private readonly owned: Ownership;
  /** Part of the prepared load. */
  private nextOwned: OwnedDrive | undefined;
  /** Number of requests of the current load that were skipped last. */
  private skippedCount = 0;

  constructor(parts: LocalSenderParts) {
    this.parts = parts;
    this.owned = new Ownership(parts);
    this.driver = parts.driver;
    this.loads = new LoadStarter(parts.driver);
    this.counter = new WindowCounter({ ...parts, sends: parts.driver });
  }

  async prepare(step: LoadStep, way: "check" | "open" | "start" | "change" = "open"): Promise<boolean> {
    const { loads, driver } = this;
    const owned = this.owned.of(step);
    const { drive, whole } = owned;
    if (way === "check") return loads.admits(drive, leastInFlightOf(whole));
    if (way === "change") {
      this.next = undefined;
      this.nextOwned = owned;
      this.next = await loads.prepareChange(drive);
    } else {
      if (way === "start" && isScheduled(drive)) await driver.stop();
      await loads.prepare(drive);
    }
    return leastInFlightOf(drive) <= driver.maxOutstanding;
  }

  start(step: LoadStep, { quota, firstNumber, ...times }: LevelStart): Promise<void> {
    const owned = this.owned.of(step);
    this.use(owned, firstNumber);
    if (typeof quota !== "number") this.endAtMinimums(quota);
    const most = this.owned.shareOf(typeof quota === "number" ? quota : Number.POSITIVE_INFINITY);
    return this.loads.start(owned.drive, most, times);
  }

  /** The requests of a query are sent together: the first one decides for all. */
  private endAtMinimums({ startNs, minDurationNs, leastCount, samplesPerQuery }: QueryMinimums): void {
    const { driver } = this;
    const ownCount = this.owned.shareOf(leastCount);
    let sentCount = 0;
    driver.onSend = (intendedNs) => {
      if (sentCount++ % samplesPerQuery > 0) return;
      if (sentCount - 1 + samplesPerQuery < ownCount) return;
      const atNs = Number.isNaN(intendedNs) ? driver.clock.nowNs() : intendedNs;
      if (atNs - startNs < minDurationNs) return;
      driver.onSend = undefined;
      driver.quota = samplesPerQuery;
    };
  }

  private use(owned: OwnedDrive, firstNumber: number | undefined): void {
    this.skippedCount = 0;
    this.owned.use(owned, firstNumber);
  }

  change({ run, skipsDueNs, next, quota, endNs, resumesTokens, rewinds, isWarmup }: LoadChange): void {
    const { driver, owned } = this;
    const { canceller, meter, tokens } = this.parts;
    if (run !== undefined) this.beginRun(run);
    if (skipsDueNs !== undefined) this.skippedCount = driver.load.takeUnsent?.(skipsDueNs) ?? 0;
    if (next !== undefined) this.beginNext(next);
    if (quota !== undefined) driver.quota = owned.shareOf(quota);
    if (endNs !== undefined) driver.endNs = endNs;
    if (resumesTokens === true) tokens?.resume();
    if (rewinds === true) driver.rewind();
    if (isWarmup === undefined) return;
    if (canceller !== undefined) canceller.isEnabled = !isWarmup;
    if (!isWarmup) return;
    meter.pause();
    tokens?.warmUp();
  }

  private beginRun({ startNs, tokens, hasTimeline }: RunStart): void {
    const { parts } = this;
    if (tokens !== undefined) parts.tokens?.begin(parts.plan, startNs, tokens);
    if (hasTimeline) parts.meter.runTimeline = new Timeline(startNs);
  }

  private beginNext({ quota, atNs, firstNumber }: LevelStart<number>): void {
    const { next, nextOwned } = this;
    this.next = undefined;
    if (nextOwned !== undefined) this.use(nextOwned, firstNumber);
    this.driver.onAllSent = undefined;
    next?.(this.owned.shareOf(quota), atNs);
  }

  stop(): Promise<void> {
    this.counter.keepLanes();
    return this.driver.stop();
  }

  cancel(message: string, which?: "all" | "unsent"): void {
    this.driver.cancel(message, which);
  }

  async close(cancelMessage?: string): Promise<ClosedSender> {
    const { driver, parts } = this;
    driver.close(cancelMessage);
    parts.health.stop();
    const { runTimeline } = parts.meter;
    parts.meter.runTimeline = undefined;
    return { totals: this.totals, timelines: runTimeline === undefined ? [] : [runTimeline.finish()] };
  }

  private get totals(): SenderTotals {
    const { connectionCount, calls, resendCount, received, servers } = this.driver.client;
    const statuses = [...(received?.statusCounts.entries() ?? [])].filter(([, count]) => count > 0);
    const { bytes = 0, unaskedCount = 0 } = received ?? {};
    return {
      connectionCount,
      slotCount: calls.length,
      resendCount,
      ...(received && { received: { bytes, unaskedCount, statuses: Object.fromEntries(statuses) } }),
      servers,
      sessions: this.parts.sessions?.tally,
    };
  }

  async until(moment: Moment): Promise<SenderState> {
    if (moment.kind !== "now") await this.wait(moment);
    return this.progress();
  }

  private async wait(moment: Exclude<Moment, { readonly kind: "now" }>): Promise<void> {
    const { driver, counter, owned } = this;
    switch (moment.kind) {
      case "all-sent":
        return new Promise((resolve) => {
          driver.onAllSent = resolve;
          if (driver.quota <= 0) resolve();
        });
      case "finished":
        await driver.finished();
        driver.onSend = undefined;
        return;
      case "more-ended":
        return driver.reachEnded(driver.endedCount + owned.shareOf(moment.count));
      case "steady":
        if (driver.activeLanes === 0 || owned.isNothing) return;
        return untilSteady(driver, () => counter.openSentNs(), { ...moment, hasRounds: owned.roundSize !== undefined });
      case "round-ends": {
        const { startNs, endedCount } = counter;
        return untilRoundEnds(driver, { size: owned.roundSize, startNs, endedCount });
      }
    }
  }

  progress(): SenderState {
    const { sentCount, endedCount, outstanding, activeLanes, quota, isSending, ended, delayedByLimit } = this.driver;
    const { completedCount, failedCount, cancelledCount, lastSuccessNs, longestNs } = ended;
    const counts = { sentCount, endedCount, completedCount, failedCount, cancelledCount };
    const unsent = { count: this.skippedCount, delayed: delayedByLimit };
    return { ...counts, outstanding, activeLanes, quota, isSending, lastSuccessNs, longestNs, unsent };
  }

  counts(): ProgressCounts {
    const { sentCount, outstanding, ended, client } = this.driver;
    const { completedCount, failedCount, cancelledCount } = ended;
    let openResponses = 0;
    for (const { isActive, messageCount } of client.calls) if (isActive) openResponses += messageCount;
    return { sentCount, completedCount, failedCount, cancelledCount, outstanding, openResponses };
  }

  async drain(which: "all" | "judged" = "all"): Promise<Drained> {
    if (which === "all") this.driver.drain();
    else this.driver.ended.drainRecords();
    const { lastEndNs, lastSendNs, collected } = this.parts.meter;
    return { lastEndNs, lastSendNs, collected };
  }

  async beginWindow(startNs: number, options: CountOptions): Promise<BegunWindow> {
    this.driver.load.beginLevel?.();
    // One of several senders passes on the requests before the window now.
    const begun = this.counter.begin(startNs, options);
    if (options.keepsTokens !== true) this.parts.tokens?.reset();
    return begun;
  }

  async cut(endNs: number, last?: LastWindow): Promise<CutWindow> {
    const cut = this.counter.cut(endNs, last);
    this.parts.tokens?.cut(cut.window);
    return this.owned.isNothing ? { ...cut, idle: undefined } : cut;
  }

  async takeTokens(span: TakenSpan): Promise<LevelTokens | undefined> {
    return this.parts.tokens && takeTokensOf(this.parts.tokens, span);
  }

  async tokenTotals(): Promise<TotalledTokens | undefined> {
    return this.parts.tokens?.readTotals();
  }
}

/** Takes tokens in the thread that measures them. */
export function takeTokensOf(tokens: RunTokens, span: TakenSpan): Promise<LevelTokens> {
  return span.kind === "windows" ? tokens.mergeLevel(span.count) : tokens.takeRecent(span.tap);
}
