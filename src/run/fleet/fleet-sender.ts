import type { LevelTokens, RunTokens } from "../../measure/tokens/run-tokens.ts";
import { joinTokenTotals, type TotalledTokens } from "../../measure/tokens/token-totals.ts";
import { msToNs } from "../../plan/units.ts";
import type { ProgressCounts } from "../../result/observer.ts";
import type { SendingHost } from "../../result/run-result.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import type { BegunWindow, CountOptions, CutWindow, LastWindow } from "../count/window-counter.ts";
import { takeTokensOf } from "../send/local-sender.ts";
import type {
  ClosedSender,
  Drained,
  LevelStart,
  LoadChange,
  LoadSender,
  LoadStep,
  Moment,
  RunStart,
  SenderState,
  TakenSpan,
} from "../send/messages.ts";
import {
  joinBegun,
  joinCounts,
  joinCuts,
  joinLevelTokens,
  joinStates,
  joinTotals,
  known,
  sumsOf,
} from "./join-parts.ts";
import type { JoinedRequests } from "./joined-requests.ts";
import { type LostPart, LostSenders } from "./lost-senders.ts";
import { START_AHEAD_NS } from "./remote-sender.ts";

/** Like {@link START_AHEAD_NS}, for a schedule that follows another load, where the pause should be short. */
const CHANGE_AHEAD_NS = msToNs(5);

export interface FleetSenderOptions {
  readonly clock?: Clock;
  /** Describes the other hosts that send, in a run with this start. Default: there are none. */
  readonly hosts?: ((runStartNs: number) => Promise<readonly SendingHost[]>) | undefined;
  /** Receives the single requests of the senders. Default: single requests are not needed. */
  readonly joined?: JoinedRequests | undefined;
}

/**
 * Several senders as one. Each message goes to all of them, each sends its share of the load, and their replies are joined. No messages
 * are exchanged per request; if single requests are needed, they arrive in batches.
 */
export class FleetSender implements LoadSender {
  private senders: readonly LoadSender[];
  private readonly lost: LostSenders;
  private readonly clock: Clock;
  private readonly hosts: FleetSenderOptions["hosts"];
  private readonly joined: JoinedRequests | undefined;
  private readonly data = new DataCount();

  /** @param senders one or more, in the order of their shares */
  constructor(senders: readonly LoadSender[], { clock = systemClock, hosts, joined }: FleetSenderOptions = {}) {
    this.senders = senders;
    this.clock = clock;
    this.lost = new LostSenders(clock.nowNs());
    this.hosts = hosts;
    this.joined = joined;
    joined?.connect(() => {
      for (const sender of this.senders) void sender.drain("judged");
    });
  }

  /**
   * Drops a sender without waiting for it. @param heardNs when it was last heard @returns the part that is missing, and the number of
   * remaining senders
   */
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

  private each<T>(ask: (sender: LoadSender, index: number) => T): T[] {
    return this.senders.map(ask);
  }

  /** Sends a message to all senders, and leaves out those that are dropped meanwhile. */
  private async gather<T>(ask: (sender: LoadSender, index: number) => Promise<T>): Promise<T[]> {
    const parts = this.each(async (sender, index) => {
      try {
        return [await ask(sender, index)];
      } catch (error) {
        if (this.senders.includes(sender)) throw error;
        return [];
      }
    });
    return (await Promise.all(parts)).flat();
  }

  /** Sends a message that divides requests, and returns the replies when all requests before it have been passed on. */
  private async divide<T>(ask: (sender: LoadSender, index: number) => Promise<T>): Promise<T[]> {
    const passing = this.joined?.begin();
    const replies = await this.gather(ask);
    await passing;
    return replies;
  }

  /**
   * Passes a message to the meter of all senders' tokens, in order with their requests, unless the senders measure tokens
   * themselves.
   */
  private withTokens(measured: (tokens: RunTokens) => void): void {
    const { joined } = this;
    const { tokens } = joined ?? {};
    if (tokens !== undefined) joined?.emit(() => measured(tokens));
  }

  private async all(ask: (sender: LoadSender) => Promise<unknown>): Promise<void> {
    await this.gather(ask);
  }

  async prepare(...message: Parameters<LoadSender["prepare"]>): Promise<boolean> {
    return (await this.gather((sender) => sender.prepare(...message))).every((isAllowed) => isAllowed);
  }

  aheadNs(): number {
    return START_AHEAD_NS;
  }

  /** With a start time, the level was prepared. Otherwise it starts when all senders have the message. */
  async start(step: LoadStep, { quota, atNs, endNs }: LevelStart): Promise<void> {
    if (atNs === undefined) await this.prepare(step, "start");
    const start = { ...this.startTogether(quota, atNs ?? this.clock.nowNs() + START_AHEAD_NS), endNs };
    return this.all((sender) => sender.start(step, start));
  }

  /** Gives the schedules of all senders a common start. */
  private startTogether<Q extends LevelStart["quota"]>(quota: Q, atNs: number): LevelStart<Q> {
    const firstNumber = this.data.begin(typeof quota === "number" ? quota : Number.POSITIVE_INFINITY);
    return { quota, atNs, firstNumber };
  }

  change(change: LoadChange): void {
    const { run, next, quota, resumesTokens, rewinds, isWarmup } = change;
    if (run !== undefined) this.beginRun(run);
    const start = next && { next: this.startTogether(next.quota, this.clock.nowNs() + CHANGE_AHEAD_NS) };
    if (quota !== undefined) this.data.add(quota);
    if (resumesTokens === true) this.withTokens((tokens) => tokens.resume());
    if (rewinds === true) this.data.rewind(this.progress().sentCount);
    if (isWarmup === true) {
      this.lost.beginWindow(undefined);
      this.withTokens((tokens) => tokens.warmUp());
    }
    for (const sender of this.senders) sender.change({ ...change, ...start });
  }

  private beginRun({ startNs, tokens: options }: RunStart): void {
    this.lost.beginRun(startNs);
    const { plan } = this.joined ?? {};
    if (options !== undefined) this.withTokens((tokens) => plan && tokens.begin(plan, startNs, options));
  }

  async stop(): Promise<void> {
    await this.all((sender) => sender.stop());
    // With its reply, each sender has reported what it had sent.
    this.data.set(this.progress().sentCount);
  }

  cancel(message: string, which?: "all" | "unsent"): void {
    for (const sender of this.senders) sender.cancel(message, which);
  }

  async close(cancelMessage?: string): Promise<ClosedSender> {
    const closing = this.gather((sender) => sender.close(cancelMessage));
    const [parts, hosts] = await Promise.all([closing, this.hosts?.(this.lost.startNs)]);
    return {
      totals: { ...joinTotals(parts.map(({ totals }) => totals)), hosts },
      timelines: parts.flatMap(({ timelines }) => timelines),
    };
  }

  async until(moment: Moment): Promise<SenderState> {
    if (moment.kind === "steady" && moment.first === undefined) {
      const beganNs = this.clock.nowNs();
      // The first request of a load is sent by the first sender. At a low rate, the other senders send theirs much
      // later.
      const first = this.gather(async (sender, index) =>
        index === 0 ? sender.until({ kind: "more-ended", count: 1 }) : undefined,
      );
      const lastSuccessNs = (await first)[0]?.lastSuccessNs ?? 0;
      const endNs = lastSuccessNs < beganNs ? this.clock.nowNs() : lastSuccessNs;
      return this.until({ ...moment, first: { beganNs, endNs } });
    }
    return joinStates([...(await this.gather((sender) => sender.until(moment))), ...this.lost.states]);
  }

  progress(): SenderState {
    return joinStates([...this.each((sender) => sender.progress()), ...this.lost.states]);
  }

  counts(): ProgressCounts {
    const counts = this.each((sender) => sender.counts());
    return joinCounts(counts, this.lost.states);
  }

  async drain(which?: "all" | "judged"): Promise<Drained> {
    const parts = await this.divide((sender) => sender.drain(which));
    return {
      ...sumsOf(parts, ["collected"]),
      lastEndNs: Math.max(...parts.map(({ lastEndNs }) => lastEndNs)),
      lastSendNs: Math.max(...parts.map(({ lastSendNs }) => lastSendNs)),
    };
  }

  async beginWindow(startNs: number, options: CountOptions): Promise<BegunWindow> {
    const begun = joinBegun(await this.beginWindows((sender) => sender.beginWindow(startNs, options)));
    // Only now have the requests before the window been passed on.
    if (options.keepsTokens !== true) this.withTokens((tokens) => tokens.reset());
    this.lost.beginWindow(options.isLead === true ? undefined : begun.startNs);
    return begun;
  }

  async cut(endNs: number, last: LastWindow = {}): Promise<CutWindow> {
    const { afterEndNs: _, ...others } = last;
    // The time in flight after the end is that of all requests together.
    const joined = joinCuts(await this.beginWindows((sender, index) => sender.cut(endNs, index === 0 ? last : others)));
    this.lost.beginWindow(joined.window.endNs);
    this.withTokens((tokens) => tokens.cut(joined.window));
    return joined;
  }

  async takeTokens(span: TakenSpan): Promise<LevelTokens | undefined> {
    const { joined } = this;
    const { tokens } = joined ?? {};
    if (tokens === undefined) return joinLevelTokens(await this.gather((sender) => sender.takeTokens(span)));
    return new Promise((resolve, reject) => {
      joined?.emit(() => void takeTokensOf(tokens, span).then(resolve, reject));
    });
  }

  async tokenTotals(): Promise<TotalledTokens | undefined> {
    const { tokens } = this.joined ?? {};
    if (tokens !== undefined) return tokens.readTotals();
    const parts = known(await this.gather((sender) => sender.tokenTotals()));
    return parts.length === 0 ? undefined : joinTokenTotals(parts);
  }
}

/**
 * The number of requests of the data that all senders have sent together, from which the next load continues. It is needed because each
 * load may have another number of senders with a share, and shares of a number of requests differ by one.
 */
class DataCount {
  /** Infinity while unknown: the load has no fixed number of requests. */
  private count = 0;
  /** Number of requests that were sent before the data restarted. */
  private rewoundCount = 0;

  /** Begins a load with this number of requests. Returns the number of requests before it; undefined: unknown. */
  begin(quota: number): number | undefined {
    const before = this.count;
    this.count += quota;
    return Number.isFinite(before) ? before : undefined;
  }

  /** Adds requests to those of the load. */
  add(quota: number): void {
    this.count += quota;
  }

  /** Restarts the data. @param sentCount number of requests since the senders were opened */
  rewind(sentCount: number): void {
    this.count = 0;
    this.rewoundCount = sentCount;
  }

  /** Sets the count after the last request. @param sentCount number of requests since the senders were opened */
  set(sentCount: number): void {
    this.count = sentCount - this.rewoundCount;
  }
}
