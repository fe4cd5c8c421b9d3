import { type CompletionGap, findGaps, type IdleTimes } from "../../measure/completion-gaps.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { flattenComposing, type ServerDelta } from "../../measure/server-delta.ts";
import { defined } from "../../plan/objects.ts";
import { msToNs } from "../../plan/units.ts";
import { mlperfRulesOf } from "../../registry/load-modes.ts";
import { toEpochNs } from "../../runtime/clock.ts";
import type { ServerCounters } from "../../service/server-counters.ts";
import type { BegunWindow, CountOptions, CutWindow, LastWindow } from "../count/window-counter.ts";
import type { LevelContext } from "./level-context.ts";
import { MemberServers } from "./member-servers.ts";
import { awaitDelta, successesToAwait } from "./settled-delta.ts";

/** A window that has ended, with the reports of servers and GPUs. */
export type EndedWindow = Pick<CutWindow, "window" | "timelines" | "queries">;

/** Divides a level's time into windows, and adds the server's counters to the sender's counts in each. */
export class WindowCutter {
  private readonly context: LevelContext;
  private readonly members: MemberServers | undefined;
  /** Start of the current window. */
  startNs = 0;
  private countersBefore: ServerCounters[] | undefined;
  /** Idle times of the level until its last cut. */
  private idle: IdleTimes | undefined;
  /** Resolves when the first counters are read, for a window that does not wait for them. */
  private countersRead: Promise<void> | undefined;

  constructor(context: LevelContext) {
    this.context = context;
    this.members = context.session.members && new MemberServers(context, context.session.members);
  }

  /** End of a schedule that ends with the only window. Undefined: its end is not known before. */
  get scheduleEndNs(): number | undefined {
    const { isScheduled, plan, handOver } = this.context;
    const { mode } = plan.measurement;
    // Other ranks may still measure.
    if (!isScheduled || plan.client.isMpi || handOver !== undefined || mode.kind !== "duration") return undefined;
    return this.startNs + msToNs(mode.durationMs);
  }

  get hasServerCounters(): boolean {
    return this.countersBefore !== undefined;
  }

  /**
   * Discards earlier records and begins the first window.
   * @param ready for a start without load: the window waits for it and for the counters. The window begins together with a schedule that is
   * started now
   */
  async begin(ready: Promise<unknown> | undefined): Promise<void> {
    const { clock, session, signal, plan, sender, isScheduled } = this.context;
    const { samplesPerQuery } = mlperfRulesOf(plan) ?? {};
    const leastAheadNs = ready !== undefined && isScheduled ? (sender.aheadNs?.() ?? 0) : 0;
    const askedNs = clock.nowNs();
    await this.discard();
    // Two more messages, for the window and for the start, take as long as this one.
    const aheadNs = leastAheadNs === 0 ? 0 : leastAheadNs + 2 * (clock.nowNs() - askedNs);
    const open = (): Promise<void> => this.open(clock.nowNs() + aheadNs, { samplesPerQuery });
    // Without load, the time for reading the counters must not be part of the window.
    if (ready === undefined) await open();
    const isReady = ready && Promise.race([ready, signal.stopped]);
    [this.countersBefore] = await Promise.all([session.counters(), isReady, this.members?.readCounters()]);
    if (ready !== undefined) await open();
  }

  /** Discards earlier records. */
  async discard(): Promise<void> {
    const { sender, observer } = this.context;
    await sender.drain();
    observer.onRecordsCut?.(undefined);
  }

  /**
   * Begins the first window in the middle of a load. Requests in flight then are counted when they end.
   * @param startNs the end of what was measured before @param keepsTokens whether the tokens before it belong to a level that has just ended
   */
  continueAt(startNs: number, keepsTokens: boolean): void {
    this.open(startNs, { keepsTokens }).catch((error: unknown) => this.context.fail(error));
    this.countersRead = Promise.all([this.context.session.counters(), this.members?.readCounters()]).then(
      ([counters]) => {
        this.countersBefore = counters;
      },
      (error: unknown) => this.context.fail(error),
    );
  }

  /**
   * Counts requests that end before the load is steady, for a run that ends before that. A window begins only with
   * `continueAt`.
   * @param startNs start of the load
   */
  async lead(startNs: number): Promise<void> {
    await this.discard();
    void this.beginWindow(startNs, { isLead: true });
    this.startNs = startNs;
  }

  private async open(startNs: number, options: Partial<CountOptions>): Promise<void> {
    const { abort, observer, poller, isScheduled, phaseLabel, sender } = this.context;
    const beginning = this.beginWindow(startNs, options);
    this.startNs = startNs;
    abort?.resume(isScheduled, phaseLabel);
    poller?.start();
    const { number, startNs: begunNs } = await beginning;
    // A level limited by time has its full length, even if the message to begin took time.
    if (this.startNs === startNs) this.startNs = begunNs;
    // Senders that stand still at the end of the window send nothing when they run again.
    const { scheduleEndNs: endNs } = this;
    if (endNs !== undefined) sender.change({ endNs });
    observer.onWindowStart?.(number);
  }

  private beginWindow(startNs: number, options: Partial<CountOptions>): Promise<BegunWindow> {
    const { sender, isScheduled, canLanesWait, plan } = this.context;
    const { mode } = plan.measurement;
    const level = mode.kind === "duration" ? { timelineNs: msToNs(mode.durationMs) } : {};
    return sender.beginWindow(startNs, { isScheduled, canLanesWait, ...level, ...options });
  }

  /** Ends the window at `endNs` and begins the next one. */
  async cut(endNs: number): Promise<Measurement> {
    return (await this.cutLast(endNs)).window;
  }

  async cutLast(endNs: number, last?: LastWindow): Promise<EndedWindow> {
    const { sender, observer, poller, delayNs } = this.context;
    const cutting = sender.cut(endNs, last);
    const gauges = poller?.take();
    this.startNs = endNs;
    const { window, nextNumber, completedByMember, timelines, idle, queries } = await cutting;
    this.idle = idle;
    observer.onRecordsCut?.({
      startEpochNs: toEpochNs(window.startNs, delayNs),
      endEpochNs: toEpochNs(window.endNs, delayNs),
    });
    observer.onWindowStart?.(nextNumber);
    await this.countersRead;
    const isFromNothing = window.openBeforeCount === 0;
    const [server, memberServers] = await Promise.all([
      this.serverDelta(window.requestCount, isFromNothing),
      completedByMember && this.members?.deltas(completedByMember, isFromNothing),
    ]);
    const whole: Measurement = {
      ...window,
      ...defined({ server, gauges, memberServers }),
    };
    return { window: whole, timelines, queries };
  }

  /**
   * Returns the times within a window of this level in which nothing ended for much longer than usual, since the start of the run. Call
   * after the window was cut.
   */
  findGaps({ startNs, endNs, latency }: Measurement): CompletionGap[] {
    const { runStartNs } = this.context;
    return (this.idle === undefined ? [] : findGaps(this.idle, latency))
      .filter((gap) => gap.endNs > startNs && gap.startNs < endNs)
      .map((gap) => ({ ...gap, startNs: gap.startNs - runStartNs, endNs: gap.endNs - runStartNs }));
  }

  /** Returns the increase of the server's counters in the window; waits briefly for counters that lag. */
  private async serverDelta(completed: number, isFromNothing: boolean): Promise<Measurement["server"]> {
    const { session, clock, signal } = this.context;
    const before = this.countersBefore;
    // After an error the server may not reply; the measurement is valid without its times.
    if (before === undefined || (signal.error !== undefined && !signal.isAborted)) return undefined;
    const expected = successesToAwait(this.context, completed, isFromNothing);
    const settled = await awaitDelta(session, before, expected, clock).catch((error: unknown) => {
      // The measurement is valid without the server's times.
      this.context.fail(error);
    });
    if (settled === undefined) return undefined;
    const { delta, after } = settled;
    this.countersBefore = after;
    if (delta !== undefined) this.warnOfVersions(delta);
    return delta;
  }

  private warnOfVersions(delta: ServerDelta): void {
    for (const { name, hasManyVersions } of [delta, ...flattenComposing(delta)])
      if (hasManyVersions) this.context.warnOfVersions(name);
  }
}
