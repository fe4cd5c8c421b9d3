import { joinGaps } from "../../measure/completion-gaps.ts";
import type { MlperfSample } from "../../measure/mlperf/mlperf-tally.ts";
import type { Sketch } from "../../measure/sketch.ts";
import type { BeginOptions, LevelTokens, RunTokens } from "../../measure/tokens/run-tokens.ts";
import { msToNs } from "../../plan/units.ts";
import type { ProgressCounts } from "../../result/observer.ts";
import type { DelayedRequests, SendingHost } from "../../result/run-result.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import type { BegunWindow, CountOptions, CutWindow, LastWindow } from "../count/window-counter.ts";
import type {
  Drained,
  LoadSender,
  LoadStep,
  QueryMinimums,
  SenderProgress,
  SenderState,
  SenderTotals,
} from "../send/messages.ts";
import {
  joinBegun,
  joinCounts,
  joinCuts,
  joinDelayed,
  joinLevelTokens,
  joinQueries,
  joinStates,
  joinTotals,
  known,
  sum,
  sumsOf,
} from "./join-parts.ts";
import type { JoinedRequests } from "./joined-requests.ts";
import { type LostPart, LostSenders } from "./lost-senders.ts";

/** Time from the message that starts a schedule to its start, in which the message reaches every sender, also on busy cores. */
const START_AHEAD_NS = msToNs(20);
/** The same where a schedule follows another load, and the pause should be short. */
const CHANGE_AHEAD_NS = msToNs(5);

/** What may be said of a fleet. */
export interface FleetSenderOptions {
  readonly clock?: Clock;
  /** Describes the other hosts that send. Default: there are none. */
  readonly hosts?: (() => Promise<readonly SendingHost[]>) | undefined;
  /** Gets the single requests of the senders. Default: nobody wants them. */
  readonly joined?: JoinedRequests | undefined;
}

/**
 * Several senders as one. Each message goes to all of them, each takes its share of the load, and what they return is joined. No message
 * passes for a single request; where single requests are wanted, they come in batches.
 */
export class FleetSender implements LoadSender {
  private senders: readonly LoadSender[];
  private readonly lost: LostSenders;
  private readonly clock: Clock;
  private readonly hosts: FleetSenderOptions["hosts"];
  private readonly joined: JoinedRequests | undefined;

  /** @param senders one or more, in the order of their shares */
  constructor(senders: readonly LoadSender[], { clock = systemClock, hosts, joined }: FleetSenderOptions = {}) {
    this.senders = senders;
    this.clock = clock;
    this.lost = new LostSenders(clock.nowNs());
    this.hosts = hosts;
    this.joined = joined;
    joined?.connect(() => {
      for (const sender of this.senders) sender.drainRecords();
    });
  }

  /** Leaves a sender out from now on, without waiting for it. @param heardNs when it was last heard @returns what is missing, and the number of senders left */
  drop(sender: LoadSender, heardNs: number): LostPart & { readonly leftCount: number } {
    this.senders = this.senders.filter((one) => one !== sender);
    return { ...this.lost.add(sender, heardNs), leftCount: this.senders.length };
  }

  /** Sends a message that begins a window, perhaps after another one. */
  private beginWindows<T>(ask: (sender: LoadSender, index: number) => Promise<T>): Promise<T[]> {
    return this.divide(async (sender, index) => {
      const reply = await ask(sender, index);
      this.lost.senderBegan(sender);
      return reply;
    });
  }

  /** Asks all senders, and leaves out those that are dropped meanwhile. */
  private async gather<T>(ask: (sender: LoadSender, index: number) => Promise<T>): Promise<T[]> {
    const parts = this.senders.map(async (sender, index) => {
      try {
        return [await ask(sender, index)];
      } catch (error) {
        if (this.senders.includes(sender)) throw error;
        return [];
      }
    });
    return (await Promise.all(parts)).flat();
  }

  /** Sends a message that divides requests, and returns the replies when those before it are passed on. */
  private async divide<T>(ask: (sender: LoadSender, index: number) => Promise<T>): Promise<T[]> {
    const passing = this.joined?.begin();
    const replies = await this.gather(ask);
    await passing;
    return replies;
  }

  /** The senders, or what measures the tokens of all of them, in order with their requests. */
  private withTokens(measured: (tokens: RunTokens) => void, ask: (sender: LoadSender) => void): void {
    const { joined } = this;
    const { tokens } = joined ?? {};
    if (tokens === undefined) for (const sender of this.senders) ask(sender);
    else joined?.emit(() => measured(tokens));
  }

  private async tokensOf(
    measured: (tokens: RunTokens) => Promise<LevelTokens>,
    ask: (sender: LoadSender) => Promise<LevelTokens | undefined>,
  ): Promise<LevelTokens | undefined> {
    const { joined } = this;
    const { tokens } = joined ?? {};
    if (tokens === undefined) return joinLevelTokens(await this.gather(ask));
    return new Promise((resolve, reject) => {
      joined?.emit(() => void measured(tokens).then(resolve, reject));
    });
  }

  private async all(ask: (sender: LoadSender) => Promise<unknown>): Promise<void> {
    await this.gather(ask);
  }

  async rehearse(): Promise<void> {
    await this.all((sender) => sender.rehearse());
    this.lost.beginRun(this.clock.nowNs());
  }

  prepare(step: LoadStep): Promise<void> {
    return this.all((sender) => sender.prepare(step));
  }

  async admits(step: LoadStep): Promise<boolean> {
    return (await this.gather((sender) => sender.admits(step))).every((isAdmitted) => isAdmitted);
  }

  settle(step: LoadStep): Promise<void> {
    return this.all((sender) => sender.settle(step));
  }

  async start(step: LoadStep, quota: number): Promise<void> {
    await this.settle(step);
    // The schedules of all senders have it in common.
    const startNs = this.clock.nowNs() + START_AHEAD_NS;
    return this.all((sender) => sender.start(step, quota, startNs));
  }

  prepareChange(step: LoadStep): Promise<void> {
    return this.all((sender) => sender.prepareChange(step));
  }

  change(quota: number): void {
    const startNs = this.clock.nowNs() + CHANGE_AHEAD_NS;
    for (const sender of this.senders) sender.change(quota, startNs);
  }

  setQuota(quota: number): void {
    for (const sender of this.senders) sender.setQuota(quota);
  }

  endAtMinimums(minimums: QueryMinimums): void {
    for (const sender of this.senders) sender.endAtMinimums(minimums);
  }

  setWarmup(isWarmup: boolean): void {
    for (const sender of this.senders) sender.setWarmup(isWarmup);
  }

  rewind(): void {
    for (const sender of this.senders) sender.rewind();
  }

  stop(): Promise<void> {
    return this.all((sender) => sender.stop());
  }

  cancel(message: string, which?: "all" | "unsent"): void {
    for (const sender of this.senders) sender.cancel(message, which);
  }

  close(cancelMessage?: string): void {
    for (const sender of this.senders) sender.close(cancelMessage);
  }

  untilMoreEnded(count: number): Promise<void> {
    return this.all((sender) => sender.untilMoreEnded(count));
  }

  untilSteady(limitNs: number): Promise<void> {
    return this.all((sender) => sender.untilSteady(limitNs));
  }

  untilRoundEnds(): Promise<void> {
    return this.all((sender) => sender.untilRoundEnds());
  }

  untilAllSent(): Promise<void> {
    return this.all((sender) => sender.untilAllSent());
  }

  untilFinished(): Promise<void> {
    return this.all((sender) => sender.untilFinished());
  }

  progress(): SenderProgress {
    const parts = this.senders.map((sender) => sender.progress());
    return {
      ...sumsOf(parts, ["outstanding", "quota"]),
      ...sumsOf([...parts, ...this.lost.states], ["sentCount", "completedCount", "failedCount"]),
      isSending: parts.some(({ isSending }) => isSending),
      lastSuccessNs: Math.max(...parts.map(({ lastSuccessNs }) => lastSuccessNs)),
    };
  }

  counts(): ProgressCounts {
    return joinCounts(
      this.senders.map((sender) => sender.counts()),
      this.lost.states,
    );
  }

  async state(): Promise<SenderState> {
    return joinStates([...(await this.gather((sender) => sender.state())), ...this.lost.states]);
  }

  async delayedByLimit(): Promise<DelayedRequests | undefined> {
    return joinDelayed(known(await this.gather((sender) => sender.delayedByLimit())));
  }

  async takeUnsent(atNs: number): Promise<number> {
    return sum(await this.gather((sender) => sender.takeUnsent(atNs)));
  }

  async totals(): Promise<SenderTotals> {
    const [parts, hosts] = await Promise.all([this.gather((sender) => sender.totals()), this.hosts?.()]);
    return { ...joinTotals(parts), hosts };
  }

  drainRecords(): void {
    if (this.joined === undefined) for (const sender of this.senders) sender.drainRecords();
    else this.joined.divide();
  }

  async drain(): Promise<Drained> {
    const parts = await this.divide((sender) => sender.drain());
    return {
      ...sumsOf(parts, ["collected"]),
      lastEndNs: Math.max(...parts.map(({ lastEndNs }) => lastEndNs)),
      lastSendNs: Math.max(...parts.map(({ lastSendNs }) => lastSendNs)),
    };
  }

  async beginWindow(startNs: number, options: CountOptions): Promise<BegunWindow> {
    const begun = joinBegun(await this.beginWindows((sender) => sender.beginWindow(startNs, options)));
    this.lost.beginWindow(begun.startNs);
    return begun;
  }

  lead(startNs: number, options: CountOptions): void {
    this.lost.beginWindow(undefined);
    for (const sender of this.senders) sender.lead(startNs, options);
  }

  restartWindow(startNs: number): void {
    for (const sender of this.senders) sender.restartWindow(startNs);
  }

  async cut(endNs: number, last: LastWindow = {}): Promise<CutWindow> {
    const { afterEndNs: _, ...others } = last;
    // The time in flight after the end is that of all requests together.
    const joined = joinCuts(await this.beginWindows((sender, index) => sender.cut(endNs, index === 0 ? last : others)));
    this.lost.beginWindow(joined.window.endNs);
    const { tokens } = this.joined ?? {};
    if (tokens !== undefined) this.joined?.emit(() => tokens.cut(joined.window));
    return joined;
  }

  pauseCounting(): void {
    this.lost.beginWindow(undefined);
    for (const sender of this.senders) sender.pauseCounting();
  }

  async takeTimeline(): ReturnType<LoadSender["takeTimeline"]> {
    return (await this.gather((sender) => sender.takeTimeline())).flat();
  }

  beginRunTimeline(startNs: number): void {
    for (const sender of this.senders) sender.beginRunTimeline(startNs);
  }

  async takeRunTimeline(): ReturnType<LoadSender["takeRunTimeline"]> {
    return (await this.gather((sender) => sender.takeRunTimeline())).flat();
  }

  async findGaps(endNs: number, latency: Sketch): ReturnType<LoadSender["findGaps"]> {
    const parts = known(await this.gather((sender) => sender.findGaps(endNs, latency)));
    return parts.length === 0 ? undefined : (joinGaps(parts, "parallel") ?? []);
  }

  countQueries(samplesPerQuery: number): Promise<void> {
    return this.all((sender) => sender.countQueries(samplesPerQuery));
  }

  async queries(): Promise<MlperfSample | undefined> {
    const parts = known(await this.gather((sender) => sender.queries()));
    return parts.length === 0 ? undefined : joinQueries(parts);
  }

  beginTokens(startNs: number, options: BeginOptions): void {
    const { plan } = this.joined ?? {};
    this.withTokens(
      (tokens) => plan && tokens.begin(plan, startNs, options),
      (sender) => sender.beginTokens(startNs, options),
    );
  }

  warmUpTokens(): void {
    this.withTokens(
      (tokens) => tokens.warmUp(),
      (sender) => sender.warmUpTokens(),
    );
  }

  resetTokens(): void {
    this.withTokens(
      (tokens) => tokens.reset(),
      (sender) => sender.resetTokens(),
    );
  }

  resumeTokens(): void {
    this.withTokens(
      (tokens) => tokens.resume(),
      (sender) => sender.resumeTokens(),
    );
  }

  mergeTokens(windowCount: number): Promise<LevelTokens | undefined> {
    return this.tokensOf(
      (tokens) => tokens.mergeLevel(windowCount),
      (sender) => sender.mergeTokens(windowCount),
    );
  }

  takeRecentTokens(tap: number): Promise<LevelTokens | undefined> {
    return this.tokensOf(
      (tokens) => tokens.takeRecent(tap),
      (sender) => sender.takeRecentTokens(tap),
    );
  }
}
