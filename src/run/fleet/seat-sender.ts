import { countOf, numberOf, type Share } from "../../load/share.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { registeredSecrets } from "../../plan/secrets.ts";
import { ERROR_FORM } from "../../plan/sent-error.ts";
import { formatPct, nsToMs } from "../../plan/units.ts";
import type { LostShare, SendingHost } from "../../result/run-result.ts";
import { nowNs, sleepUnless, timeOriginMs } from "../../runtime/clock.ts";
import { type AgentLimits, type HostLimits, hostExhausted } from "../host-limits.ts";
import type { RunSignal } from "../interrupt.ts";
import type { LoadSender, SenderListener } from "../send/messages.ts";
import { type ClockReading, driftNs, offsetNs, originMsOf, readClock } from "./clock-offset.ts";
import type { RequestListener } from "./joined-requests.ts";
import type { LostPart } from "./lost-senders.ts";
import { RemoteSender, type SenderChannel, type SentCounts } from "./remote-sender.ts";
import { openThreadSeat, type Seat, type SeatListener } from "./seat.ts";
import type { SeatTask, SenderThreadData, ThreadEvent } from "./sender-thread.ts";

/** Longest wait for a sender to close its connections. */
const END_MS = 2000;

/** Places of the senders on other hosts. */
export interface SeatsElsewhere {
  readonly count: number;
  /** Number of senders of each agent. */
  readonly threads: number;
  /** Number of hosts that may be lost during the run. */
  readonly allowLost: number;
  /** Whether the bus is connected. Otherwise no agent can be heard. */
  readonly isConnected: boolean;
  /** Opens one of the seats. @param index 0 to `count` - 1 */
  open(index: number, listener: SeatListener): Seat;
}

/** Options of senders, besides the plan. */
export interface FleetOptions extends Pick<SenderThreadData, "requests" | "measuresTokens" | "functions" | "made"> {
  /** Number of threads in this process. With `elsewhere`, this process has none. */
  readonly count: number;
  readonly elsewhere?: SeatsElsewhere | undefined;
  readonly signal: RunSignal;
  /** Maximum number of outstanding requests of all threads of this process; agents have separate limits. */
  readonly maxOutstanding: number;
  readonly wantsRecords: boolean;
}

/** Dependencies of a seat. */
export interface SeatOptions extends FleetOptions {
  /** Drops this seat, which is lost: the others report what was measured. Returns undefined when the load has not begun. */
  drop(seat: SeatSender, heardNs: number): { readonly missing: LostPart; readonly endsRun: boolean } | undefined;
}

/** The conductor's side of a seat. */
export class SeatSender {
  private readonly share: Share;
  private readonly options: SeatOptions;
  private readonly seat: Seat;
  private readonly opening = Promise.withResolvers<SentCounts>();
  private readonly ended = Promise.withResolvers<void>();
  /** Rejects when the seat is gone. */
  private readonly gone = Promise.withResolvers<never>();
  /** Pending clock queries, by number. */
  private readonly times = new Map<number, (wallMs: number) => void>();
  private nextQuestion = 0;
  /** The first comparison of the clocks. */
  private reading: ClockReading | undefined;
  /** Set by {@link alignClock}. */
  private originMs: number | undefined;
  private lateNs = 0;
  private counts: SentCounts | undefined;
  private limits: HostLimits | undefined;
  private remote: RemoteSender | undefined;
  private lost: LostShare | undefined;

  constructor(share: Share, options: SeatOptions) {
    this.share = share;
    this.options = options;
    this.opening.promise.catch(() => {});
    this.gone.promise.catch(() => {});
    const listener: SeatListener = {
      event: (event) => this.receive(event),
      gone: (reason, isCode, heardNs = nowNs()) => this.fail(reason, isCode, heardNs),
    };
    const { elsewhere } = options;
    this.seat = elsewhere === undefined ? openThreadSeat(listener) : elsewhere.open(share.index, listener);
  }

  /** Compares the seat's clock with that of this thread. */
  async readClock(): Promise<ClockReading> {
    const reading = await this.compareClocks();
    this.reading ??= reading;
    return reading;
  }

  /** Finds the time on a thread's clock at which this one began, which differs if the system's time was set in between. */
  async alignClock(): Promise<void> {
    this.originMs = originMsOf(await this.compareClocks());
  }

  private compareClocks(): Promise<ClockReading> {
    return readClock(() => {
      const id = this.nextQuestion++;
      this.post({ kind: "tell-time", id });
      return Promise.race([new Promise<number>((resolve) => this.times.set(id, resolve)), this.gone.promise]);
    });
  }

  /** Describes the seat's requests and its clock. @param runStartNs start of the run */
  async describe(runStartNs: number): Promise<{ readonly id: string; readonly part: SendingHost }> {
    const last = this.lost === undefined ? await this.readClock() : this.reading;
    const first = this.reading ?? last;
    // Its last reply has its latest counts.
    const { sentCount = 0, completedCount = 0, failedCount = 0 } = this.remote?.sender.progress() ?? {};
    const { hostId: id, name } = this;
    const counts = { workerCount: 1, sentCount, completedCount, failedCount };
    const clockDriftNs = first === undefined || last === undefined ? 0 : driftNs(first, last);
    const clockOffsetNs = first === undefined ? 0 : offsetNs(first);
    const clock = { clockOffsetNs, clockErrorNs: first?.errorNs ?? 0, clockDriftNs, lateNs: this.lateNs };
    const standstills = (this.remote?.standstills ?? []).map(({ startNs, endNs }) => ({
      ...{ startNs: startNs - runStartNs, endNs: endNs - runStartNs, fromNs: startNs },
    }));
    const rest = { lost: this.lost, standstills: standstills.length === 0 ? undefined : standstills };
    return { id, part: { name, ...counts, ...clock, ...defined(rest) } };
  }

  /**
   * Opens the plan's target at the seat.
   * @param delayNs time by which its clock is set back, in which a message reaches every seat @param agentsOnHost ids of agents by
   * host
   */
  open(plan: Plan, delayNs: number, agentsOnHost: ReadonlyMap<string, readonly string[]>): Promise<unknown> {
    const { share, reading, originMs: ownMs = timeOriginMs() } = this;
    const { maxOutstanding, wantsRecords, requests, measuresTokens, functions, made, elsewhere } = this.options;
    const originMs = reading === undefined ? ownMs : originMsOf(reading) + nsToMs(delayNs);
    this.post({
      kind: "open",
      data: {
        ...{ plan, share, functions, made, requests, measuresTokens, sendsRecords: wantsRecords },
        agent: elsewhere && {
          threads: elsewhere.threads,
          agentsOnHost: agentsOnHost.get(hostOf(this.name))?.length ?? 1,
        },
        maxOutstanding: countOf(maxOutstanding, share),
        secrets: registeredSecrets(),
        originMs,
      },
    });
    return this.opening.promise;
  }

  get name(): string {
    return this.seat.host?.name ?? "";
  }

  /** The limits of the agent. Undefined until the seat is open, and for a thread of this process. */
  get agentLimits(): AgentLimits | undefined {
    const { name, limits } = this;
    return limits && { name, limits };
  }

  get hostId(): string {
    return this.seat.host?.id ?? "";
  }

  get sender(): LoadSender | undefined {
    return this.remote?.sender;
  }

  createSender(listener: SenderListener, requests: RequestListener | undefined): LoadSender {
    const isDelayed = this.reading !== undefined;
    const send: SenderChannel["send"] = (messages, atNs) =>
      this.post({ kind: "handle", messages, ...(isDelayed ? { atNs } : {}) });
    this.remote = new RemoteSender({ send }, this.withLanes(listener), this.counts as SentCounts, requests);
    return this.remote.sender;
  }

  /** Numbers lanes among those of all senders, and applies the limits of this agent. */
  private withLanes(listener: SenderListener): SenderListener {
    return {
      ...listener,
      failed: (...[failure, lane, sentNs]: Parameters<SenderListener["failed"]>): void => {
        const { name, limits } = this;
        if (failure.isHostExhausted === true && limits !== undefined)
          listener.broken(hostExhausted({ ...limits, agents: { count: 1, leastName: name } }, failure));
        listener.failed(failure, numberOf(lane, this.share), sentNs);
      },
      broken: (error) => listener.broken(this.named(error)),
    };
  }

  /** Adds the agent's name to an error about a limit of its host. */
  private named(error: unknown): unknown {
    if (this.seat.host === undefined || !(error instanceof RunError) || error.code !== "host-limit") return error;
    return error.reword([`${this.seat.name}: `, error.text]);
  }

  post(task: SeatTask): void {
    this.seat.post(task);
  }

  async close(): Promise<void> {
    if (this.counts !== undefined) {
      this.post({ kind: "end" });
      await sleepUnless(END_MS, this.ended.promise);
    }
    this.remote = undefined;
    await this.seat.end();
  }

  private receive(event: ThreadEvent): void {
    switch (event.kind) {
      case "time":
        this.lateNs = event.lateNs;
        this.times.get(event.id)?.(event.wallMs);
        this.times.delete(event.id);
        return;
      case "opened":
        this.counts = event;
        this.limits = event.limits;
        this.opening.resolve(event);
        return;
      case "not-opened":
        this.opening.reject(ERROR_FORM.receive(event.error));
        return;
      case "ended":
        this.ended.resolve();
        return;
      case "stood-still":
        return;
      default:
        this.remote?.receive(event);
    }
  }

  private explain(reason: string, isCode: boolean): RunError {
    const { seat, share, options } = this;
    if (isCode && options.functions !== undefined) {
      const hint = "If the scenario's code calls process.exit, throw an error instead.";
      return new RunError("internal", `${seat.name} failed: ${reason}`, hint);
    }
    if (seat.host === undefined) return new RunError("internal", `${seat.name} failed: ${reason}`, "Report this.");
    if (options.elsewhere?.isConnected === false) {
      const hint = "Look at the NATS server. The agents wait for the next run when it is back.";
      return new RunError("unreachable", `all agents are lost: ${reason}`, hint);
    }
    const part = (options.elsewhere?.threads ?? 1) / share.count;
    const message = `${seat.name} is lost, and with it ${formatPct(part)} of the load: ${reason}`;
    return new RunError(
      "unreachable",
      message,
      "Look at its host, and start it again if it has ended. The other agents are free.",
    );
  }

  private fail(reason: string, isCode: boolean, heardNs: number): void {
    const error = this.explain(reason, isCode);
    const dropped = isCode ? undefined : this.options.drop(this, heardNs);
    if (dropped !== undefined) this.lost = { ...dropped.missing, loadRatio: 1 / this.share.count, reason };
    this.opening.reject(error);
    this.gone.reject(error);
    this.ended.resolve();
    this.remote?.fail(error, dropped?.endsRun !== false);
  }
}

/** Returns the host's name in the name of an agent. */
export function hostOf(agentName: string): string {
  return agentName.replace(/\/\d+$/, "");
}
