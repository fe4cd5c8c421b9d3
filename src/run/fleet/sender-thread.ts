import type { MessagePort } from "node:worker_threads";
import type { Share } from "../../load/share.ts";
import type { Plan } from "../../plan/plan.ts";
import { registerSecret } from "../../plan/secrets.ts";
import { ERROR_FORM, type SentError } from "../../plan/sent-error.ts";
import { prepareLoad } from "../../registry/load-modes.ts";
import type { RunObserver } from "../../result/observer.ts";
import { type Cancel, DueTimer, nowNs, shareClock, wallMs } from "../../runtime/clock.ts";
import { readHostResources } from "../../runtime/machine.ts";
import { type FunctionsSource, loadFunctions } from "../../scenario/thread-functions.ts";
import { LoadMonitor } from "../../telemetry/health-monitor.ts";
import { type HostLimits, hostLimitsOf, limitKeptResponses, partOfThread, watchMemory } from "../host-limits.ts";
import { RunSignal } from "../interrupt.ts";
import type { MadeInputs } from "../open/session.ts";
import { openSending, type Sending } from "../open-sending.ts";
import type { LevelStart, LoadChange } from "../send/messages.ts";
import { RequestPacker, type RequestsWanted } from "./packed-requests.ts";
import type { SenderEvent, SentCounts, SentMessage } from "./remote-sender.ts";
import { listenFor, ServedSender } from "./serve-sender.ts";

/** Data that a thread needs to send a share of a plan's load: plain data. */
export interface SenderThreadData {
  readonly plan: Plan;
  readonly share: Share;
  /** Maximum number of outstanding requests of this sender. */
  readonly maxOutstanding: number;
  /**
   * Threads of the agent that this thread belongs to: they share the limits of the agent's host. Absent: it is the
   * conductor's thread.
   */
  readonly agent?: { readonly threads: number; readonly agentsOnHost: number } | undefined;
  readonly sendsRecords: boolean;
  /** Single requests that the conductor wants. Absent: none. */
  readonly requests?: RequestsWanted | undefined;
  /** Whether the thread measures the tokens of its responses, if the plan measures any. Default: true. */
  readonly measuresTokens?: boolean | undefined;
  readonly secrets: readonly string[];
  /** Module with the functions of the plan. Absent: it names none. */
  readonly functions?: FunctionsSource | undefined;
  /** Data that the conductor made once. Absent: the thread loads the data. */
  readonly made?: MadeInputs | undefined;
  /** Time origin of the conductor's clock, on this thread's {@link wallMs} clock. */
  readonly originMs: number;
}

/** A message of a conductor to the thread. */
export type SeatTask =
  /** Requests the thread's time, before it is opened and while it sends. */
  | { readonly kind: "tell-time"; readonly id: number }
  | { readonly kind: "open"; readonly data: SenderThreadData }
  /** Messages to handle without a pause. @see SenderThread.handle */
  | { readonly kind: "handle"; readonly messages: readonly SentMessage[]; readonly atNs?: number }
  /** Stops the opening of more connections for queries to the server. */
  | { readonly kind: "interrupt" }
  | { readonly kind: "end" };

/** First message of the thread, which listens from now on. */
export interface ThreadReady {
  readonly kind: "ready";
}

/** A message of the thread. */
export type ThreadEvent =
  /** @property lateNs maximum time by which messages were late for the moment at which all senders should act on them */
  | { readonly kind: "time"; readonly id: number; readonly wallMs: number; readonly lateNs: number }
  /** @property limits limits of the agent */
  | ({ readonly kind: "opened"; readonly limits?: HostLimits | undefined } & SentCounts)
  | { readonly kind: "not-opened"; readonly error: SentError }
  | { readonly kind: "ended" }
  /** An agent's thread stood still. It sends nothing until `heard` is not 0, which is shared with the agent only. */
  | { readonly kind: "stood-still"; readonly heard?: Int32Array }
  | SenderEvent;

/** Longest wait without a look at whether the thread is ended. */
const HEARD_MS = 20;

/** Serves a remote conductor in this thread. @param loadApi loads the module that a scenario imports as `"rampart"` */
export function serveSenderThread(port: MessagePort, loadApi: () => Promise<object>): void {
  const thread = new SenderThread(port, loadApi);
  port.on("message", (task: SeatTask) => thread.take(task));
  port.postMessage({ kind: "ready" } satisfies ThreadReady);
}

/**
 * Returns the latest moment at which all senders should act on the messages, in the conductor's nanoseconds. A message that names a moment
 * arrives before it. Undefined: the time of the action does not affect the measurement.
 */
function momentOf(messages: readonly SentMessage[], saidNs: number): number | undefined {
  const moments = messages.map(({ name, args: [first, second] }) => {
    switch (name) {
      case "start":
        return (second as LevelStart).atNs ?? saidNs;
      case "change": {
        const { next, quota } = first as LoadChange;
        if (next !== undefined) return next.atNs ?? saidNs;
        return quota === undefined ? undefined : saidNs;
      }
      case "beginWindow":
      case "cut":
        return Math.max(saidNs, first as number);
      default:
        return undefined;
    }
  });
  const known = moments.filter((moment) => moment !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** Opens a plan's target in this thread, and sends a share of its load until the conductor ends it. */
class SenderThread {
  private readonly port: MessagePort;
  private readonly loadApi: () => Promise<object>;
  private readonly signal = new RunSignal();
  private sending: Sending | undefined;
  private served: ServedSender | undefined;
  /** Messages that are due later, in order. */
  private due: Extract<SeatTask, { kind: "handle" }>[] = [];
  private readonly timer = new DueTimer(() => this.handleDue());
  private lateNs = 0;
  private unwatch: Cancel | undefined;
  private readonly monitor = new LoadMonitor();

  constructor(port: MessagePort, loadApi: () => Promise<object>) {
    this.port = port;
    this.loadApi = loadApi;
  }

  take(task: SeatTask): void {
    switch (task.kind) {
      case "tell-time":
        this.send({ kind: "time", id: task.id, wallMs: wallMs(), lateNs: this.lateNs });
        return;
      case "open":
        void this.open(task.data);
        return;
      case "interrupt":
        this.signal.interrupt();
        return;
      case "handle":
        this.due.push(task);
        this.handleDue();
        return;
      case "end":
        void this.end();
        return;
    }
  }

  private send(event: ThreadEvent): void {
    this.port.postMessage(event);
  }

  private async open(data: SenderThreadData): Promise<void> {
    const { share, sendsRecords, requests, measuresTokens, secrets, originMs, functions } = data;
    shareClock(originMs);
    for (const secret of secrets) registerSecret(secret);
    const { signal } = this;
    let onTrace: RunObserver["onTrace"];
    // The conductor has already shown the server's description of its model.
    const observer: RunObserver = data.plan.outputs.verbosity === 2 ? { onTrace: (event) => onTrace?.(event) } : {};
    const packer = requests && new RequestPacker(requests);
    try {
      const plan =
        functions === undefined ? data.plan : await loadFunctions(data.plan, functions, await this.loadApi());
      const load = prepareLoad(plan.load, plan.measurement.mode);
      const { agent } = data;
      const limits = agent && hostLimitsOf(plan, load.search, undefined, agent.agentsOnHost);
      const most = limits === undefined ? Number.POSITIVE_INFINITY : partOfThread(limits, agent?.threads ?? 1);
      limitKeptResponses(limits ?? { resources: readHostResources() }, agent?.threads ?? share.count);
      this.sending = await openSending(plan, {
        observer,
        load,
        signal,
        maxOutstanding: Math.min(data.maxOutstanding, most),
        ...{ senders: share, made: data.made },
        measuresTokens,
        beforeEvent: agent && (() => this.monitor.checkStandstill()),
      });
      if (agent !== undefined) this.monitor.onStandstill = () => this.waitForConductor();
      const send = this.send.bind(this);
      const listener = listenFor(send, sendsRecords, packer);
      const sender = this.sending.createSender(listener, observer, packer);
      if (packer !== undefined) packer.onFull = () => void sender.drain("judged").catch(listener.broken);
      onTrace = listener.traced;
      this.served = new ServedSender(sender, send, share.count, this.monitor);
      if (limits !== undefined) this.unwatch = watchMemory(limits, listener.broken);
      await this.sending.rehearse();
      this.send({ kind: "opened", limits, progress: sender.progress(), counts: sender.counts() });
    } catch (error) {
      this.send({ kind: "not-opened", error: ERROR_FORM.send(error) });
    }
  }

  /**
   * Handles the messages that are due. Messages of a conductor on another host have a due time that is the same on all hosts, and each host
   * gets them before that time.
   */
  private handleDue(): void {
    for (let next = this.due[0]; next !== undefined; next = this.due[0]) {
      const { atNs } = next;
      if (atNs !== undefined) {
        const byNs = nowNs() - atNs;
        if (byNs < 0) {
          this.timer.set(atNs);
          return;
        }
        const momentNs = momentOf(next.messages, atNs) ?? Number.POSITIVE_INFINITY;
        this.lateNs = Math.max(this.lateNs, nowNs() - momentNs);
      }
      this.due.shift();
      this.served?.handle(next.messages);
    }
  }

  /**
   * Blocks an agent's thread until its conductor is heard: the run may be over, and requests that were due meanwhile are not wanted
   * then.
   */
  private waitForConductor(): void {
    const heard = new Int32Array(new SharedArrayBuffer(4));
    this.send({ kind: "stood-still", heard });
    // The thread can be ended between two waits.
    while (Atomics.load(heard, 0) === 0) Atomics.wait(heard, 0, 0, HEARD_MS);
  }

  private async end(): Promise<void> {
    this.unwatch?.();
    this.timer.clear();
    this.due = [];
    this.served?.end();
    await this.sending?.close();
    this.send({ kind: "ended" });
  }
}
