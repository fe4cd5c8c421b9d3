import { countOf, numberOf, type Share } from "../../load/share.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { registeredSecrets } from "../../plan/secrets.ts";
import { ERROR_FORM } from "../../plan/sent-error.ts";
import { formatPct, nsToMs } from "../../plan/units.ts";
import type { SendingHost } from "../../result/run-result.ts";
import { nowNs, sleepUnless, timeOriginMs } from "../../runtime/clock.ts";
import type { FunctionsSource } from "../../scenario/thread-functions.ts";
import type { RunSignal } from "../interrupt.ts";
import type { LoadSender, SenderListener } from "../send/messages.ts";
import { type ClockReading, driftNs, messageDelayNs, offsetNs, originMsOf, readClock } from "./clock-offset.ts";
import { FleetSender } from "./fleet-sender.ts";
import type { JoinedRequests, RequestListener } from "./joined-requests.ts";
import type { RequestsWanted } from "./packed-requests.ts";
import { RemoteSender, type SenderChannel, type SentCounts } from "./remote-sender.ts";
import { openThreadSeat, type Seat, type SeatListener } from "./seat.ts";
import type { SeatTask, ThreadEvent } from "./sender-thread.ts";

/** Longest wait for a sender to close its connections. */
const END_MS = 2000;

/** Senders that send a plan's load together. */
export interface Fleet {
  readonly count: number;
  /**
   * Returns the sender that all of them are.
   * @param listener hears of what ends in any of them
   * @param joined gets their single requests. Default: nobody wants them
   */
  createSender(listener: SenderListener, joined?: JoinedRequests): LoadSender;
  close(): Promise<void>;
}

/** Where the senders of other hosts run. */
export interface SeatsElsewhere {
  readonly count: number;
  /** Number of them on each host. */
  readonly perHost: number;
  /** Number of hosts that may be lost during the run. */
  readonly allowLost: number;
  /** Opens one of them. @param index 0 to `count` - 1 */
  open(index: number, listener: SeatListener): Seat;
}

/** What the senders need besides the plan. */
export interface FleetOptions {
  /** Number of threads of this process; with `elsewhere`, none. */
  readonly count: number;
  readonly elsewhere?: SeatsElsewhere | undefined;
  readonly signal: RunSignal;
  /** Maximum number of outstanding requests of all of them together. */
  readonly maxOutstanding: number;
  /** Whether the conductor wants the records of requests. */
  readonly wantsRecords: boolean;
  /** What the conductor wants of single requests. Absent: nothing. */
  readonly requests?: RequestsWanted | undefined;
  /** Whether each sender measures the tokens of its responses, if the plan measures any. Default: true. */
  readonly measuresTokens?: boolean | undefined;
  /** Where the functions of the plan are. Absent: it names none. */
  readonly functions?: FunctionsSource | undefined;
}

/** Opens the plan's target at several senders. @throws RunError or UserError when one of them cannot; none is left then */
export async function openFleet(plan: Plan, options: FleetOptions): Promise<Fleet> {
  const { signal, elsewhere } = options;
  const maxOutstanding = ownLimit(plan, options);
  // Each sender may have one request in flight.
  const count = Math.min(elsewhere?.count ?? options.count, maxOutstanding);
  const seats: SeatSender[] = Array.from(
    { length: count },
    (_, index) => new SeatSender({ index, count }, { ...options, maxOutstanding, drop: (seat) => drop(seat) }),
  );
  // Until the load begins, none may be lost.
  let drop: SeatOptions["drop"] = () => "kept";
  void signal.interrupted.then(() => {
    for (const seat of seats) seat.post({ kind: "interrupt" });
  });
  const close = async (): Promise<void> => {
    await Promise.all(seats.map((seat) => seat.close()));
  };
  const readings = elsewhere === undefined ? undefined : await Promise.all(seats.map((seat) => seat.readClock()));
  const delayNs = readings === undefined ? 0 : messageDelayNs(readings);
  const opened = await Promise.allSettled(seats.map((seat) => seat.open(plan, delayNs)));
  const failed = opened.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  return {
    count,
    createSender: (listener, joined) => {
      const senders = seats.map((seat, index) => seat.createSender(listener, joined?.listenerOf(index)));
      if (elsewhere === undefined) return new FleetSender(senders, { joined });
      const fleet = new FleetSender(senders, { joined, hosts: () => describeHosts(seats) });
      const lost = new Set<string>();
      drop = ({ hostId, sender }) => {
        lost.add(hostId);
        if (sender === undefined) return "kept";
        return fleet.drop(sender) === 0 || lost.size > elsewhere.allowLost ? "ends-run" : "run-continues";
      };
      return fleet;
    },
    close,
  };
}

/** What a seat needs. */
interface SeatOptions extends FleetOptions {
  /** Leaves this one out, which is lost, if the load has begun: the others report what was measured. */
  drop(seat: SeatSender): "run-continues" | "ends-run" | "kept";
}

/** Describes the hosts, in the order of their first seats. */
async function describeHosts(seats: readonly SeatSender[]): Promise<SendingHost[]> {
  const parts = new Map<string, SendingHost>();
  for (const { id, part } of await Promise.all(seats.map((seat) => seat.describe()))) {
    const others = parts.get(id);
    parts.set(id, others === undefined ? part : joinHost(others, part));
  }
  return [...parts.values()];
}

function joinHost(a: SendingHost, b: SendingHost): SendingHost {
  return {
    name: a.name,
    workerCount: a.workerCount + b.workerCount,
    sentCount: a.sentCount + b.sentCount,
    completedCount: a.completedCount + b.completedCount,
    failedCount: a.failedCount + b.failedCount,
    // Both are of one clock.
    clockOffsetNs: a.clockErrorNs > b.clockErrorNs ? a.clockOffsetNs : b.clockOffsetNs,
    clockErrorNs: Math.max(a.clockErrorNs, b.clockErrorNs),
    clockDriftNs: Math.abs(a.clockDriftNs) > Math.abs(b.clockDriftNs) ? a.clockDriftNs : b.clockDriftNs,
    lateNs: Math.max(a.lateNs, b.lateNs),
    ...(a.lost === undefined ? {} : { lost: { ...a.lost, loadRatio: a.lost.loadRatio + (b.lost?.loadRatio ?? 0) } }),
  };
}

/** The limits of each other host hold there, see {@link SenderThreadData}. */
function ownLimit({ client }: Plan, { maxOutstanding, elsewhere }: FleetOptions): number {
  if (elsewhere === undefined) return maxOutstanding;
  return client.maxOutstanding ?? (maxOutstanding * elsewhere.count) / elsewhere.perHost;
}

/** The conductor's side of a seat. */
class SeatSender {
  private readonly share: Share;
  private readonly options: SeatOptions;
  private readonly seat: Seat;
  private readonly opening = Promise.withResolvers<SentCounts>();
  private readonly ended = Promise.withResolvers<void>();
  /** Rejects when it is gone. */
  private readonly gone = Promise.withResolvers<never>();
  /** Waits for its time, by the number of the question. */
  private readonly times = new Map<number, (wallMs: number) => void>();
  private nextQuestion = 0;
  /** The first comparison of the clocks. */
  private reading: ClockReading | undefined;
  private lateNs = 0;
  private counts: SentCounts | undefined;
  private remote: RemoteSender | undefined;
  /** Start of the load. */
  private startNs = 0;
  private lost: SendingHost["lost"];

  constructor(share: Share, options: SeatOptions) {
    this.share = share;
    this.options = options;
    this.opening.promise.catch(() => {});
    this.gone.promise.catch(() => {});
    const listener: SeatListener = {
      event: (event) => this.receive(event),
      gone: (reason, isCode) => this.fail(reason, isCode),
    };
    const { elsewhere } = options;
    this.seat = elsewhere === undefined ? openThreadSeat(listener) : elsewhere.open(share.index, listener);
  }

  /** Compares its clock with that of this thread. */
  async readClock(): Promise<ClockReading> {
    const reading = await readClock(() => {
      const id = this.nextQuestion++;
      this.post({ kind: "tell-time", id });
      return Promise.race([new Promise<number>((resolve) => this.times.set(id, resolve)), this.gone.promise]);
    });
    this.reading ??= reading;
    return reading;
  }

  /** Describes what it sent, and its clock. */
  async describe(): Promise<{ readonly id: string; readonly part: SendingHost }> {
    const last = this.lost === undefined ? await this.readClock() : this.reading;
    const first = this.reading ?? last;
    // Its latest counts are those of its last reply.
    const { sentCount = 0, completedCount = 0, failedCount = 0 } = this.remote?.sender.progress() ?? {};
    const { name = "" } = this.seat.host ?? {};
    const id = this.hostId;
    const counts = { workerCount: 1, sentCount, completedCount, failedCount };
    const clockDriftNs = first === undefined || last === undefined ? 0 : driftNs(first, last);
    const clockOffsetNs = first === undefined ? 0 : offsetNs(first);
    const clock = { clockOffsetNs, clockErrorNs: first?.errorNs ?? 0, clockDriftNs, lateNs: this.lateNs };
    return { id, part: { name, ...counts, ...clock, ...(this.lost === undefined ? {} : { lost: this.lost }) } };
  }

  /** Opens the plan's target there. @param delayNs time by which its clock is behind, in which a message reaches every seat */
  open(plan: Plan, delayNs: number): Promise<unknown> {
    const { share, reading } = this;
    const { maxOutstanding, wantsRecords, requests, measuresTokens, functions, elsewhere } = this.options;
    const originMs = reading === undefined ? timeOriginMs() : originMsOf(reading) + nsToMs(delayNs);
    this.post({
      kind: "open",
      data: {
        ...{ plan, share, functions, requests, measuresTokens, sendsRecords: wantsRecords },
        perHost: elsewhere?.perHost,
        maxOutstanding: countOf(maxOutstanding, share),
        secrets: registeredSecrets(),
        originMs,
      },
    });
    return this.opening.promise;
  }

  get hostId(): string {
    return this.seat.host?.id ?? "";
  }

  get sender(): LoadSender | undefined {
    return this.remote?.sender;
  }

  createSender(listener: SenderListener, requests: RequestListener | undefined): LoadSender {
    this.startNs = nowNs();
    const isDelayed = this.reading !== undefined;
    const send: SenderChannel["send"] = (messages, atNs) =>
      this.post({ kind: "handle", messages, ...(isDelayed ? { atNs } : {}) });
    this.remote = new RemoteSender({ send }, this.withLanes(listener), this.counts as SentCounts, requests);
    return this.remote.sender;
  }

  /** Lanes count among those of all senders. */
  private withLanes(listener: SenderListener): SenderListener {
    return {
      ...listener,
      failed: (...[failure, lane, sentNs]: Parameters<SenderListener["failed"]>): void =>
        listener.failed(failure, numberOf(lane, this.share), sentNs),
    };
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
        this.opening.resolve(event);
        return;
      case "not-opened":
        this.opening.reject(ERROR_FORM.receive(event.error));
        return;
      case "ended":
        this.ended.resolve();
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
    const part = (options.elsewhere?.perHost ?? 1) / share.count;
    const message = `${seat.name} is lost, and with it ${formatPct(part)} of the load: ${reason}`;
    return new RunError("unreachable", message, "Look at its host, and start it again. The other agents are free.");
  }

  private fail(reason: string, isCode: boolean): void {
    const error = this.explain(reason, isCode);
    const dropped = isCode ? "kept" : this.options.drop(this);
    if (dropped !== "kept") this.lost = { afterNs: nowNs() - this.startNs, loadRatio: 1 / this.share.count, reason };
    this.opening.reject(error);
    this.gone.reject(error);
    this.ended.resolve();
    this.remote?.fail(error, dropped !== "run-continues");
  }
}
