import type { RecordColumns } from "../../measure/records.ts";
import { ERROR_FORM, type SentError } from "../../plan/sent-error.ts";
import { msToNs } from "../../plan/units.ts";
import type { ProgressCounts } from "../../result/observer.ts";
import { nowNs } from "../../runtime/clock.ts";
import type { Standstill } from "../../telemetry/health-monitor.ts";
import type { LoadSender, SenderListener, SenderState } from "../send/messages.ts";
import { DIVIDING, type RequestListener } from "./joined-requests.ts";
import type { PackedRequests } from "./packed-requests.ts";

/**
 * Time from the message that starts a schedule to its start. Long enough for the message to reach every sender, even on busy
 * cores.
 */
export const START_AHEAD_NS = msToNs(20);

/** A message to a remote sender. */
export interface SentMessage {
  readonly id: number;
  readonly name: MessageName;
  readonly args: readonly unknown[];
}

/** Messages that are sent. The latest counts arrive without a message. */
export type MessageName = Exclude<keyof LoadSender, "progress" | "counts" | "aheadNs">;

export interface SentCounts {
  readonly progress: SenderState;
  readonly counts: ProgressCounts;
  /** Standstills of the sender so far, on the clock of windows. Absent: none. */
  readonly standstills?: readonly Standstill[];
}

export type SenderEvent =
  | ({ readonly kind: "counts" } & SentCounts)
  | ({ readonly kind: "reply"; readonly id: number; readonly value: unknown } & SentCounts)
  | { readonly kind: "refusal"; readonly id: number; readonly error: SentError }
  | {
      readonly kind: "records";
      /** {@link RecordColumns} */
      readonly columns: unknown;
      readonly count: number;
      /** The requests of the rows. Absent: the conductor does not need them. */
      readonly requests?: PackedRequests | undefined;
    }
  | {
      readonly kind: "listener";
      readonly name: "extracted" | "failed" | "limited" | "traced";
      readonly args: readonly unknown[];
    }
  | { readonly kind: "broken"; readonly error: SentError };

/** Channel to a remote sender, in order and without loss. */
export interface SenderChannel {
  /** Sends messages, which are handled without a pause in between. @param atNs when the first of them was issued */
  send(messages: readonly SentMessage[], atNs: number): void;
}

/** A message whose reply is pending. */
interface Awaited extends PromiseWithResolvers<unknown> {
  readonly name: MessageName;
}

/** The conductor's side of a sender in another thread or on another host. */
export class RemoteSender {
  /** The sender that the conductor uses. */
  readonly sender: LoadSender;
  private readonly channel: SenderChannel;
  private readonly listener: SenderListener;
  private readonly requests: RequestListener | undefined;
  private readonly waiting = new Map<number, Awaited>();
  private unsent: SentMessage[] = [];
  /** Time when the first pending message was issued: this thread may stand still before it sends them. */
  private saidNs = 0;
  private nextId = 0;
  private latest: SentCounts;
  private end: Error | undefined;

  /** @param latest the counts before the first message @param requests receives single requests. Default: they are not needed */
  constructor(channel: SenderChannel, listener: SenderListener, latest: SentCounts, requests?: RequestListener) {
    this.channel = channel;
    this.requests = requests;
    this.listener = listener;
    this.latest = latest;
    this.sender = this.createSender();
  }

  /** Standstills of the sender so far, on the clock of windows. */
  get standstills(): readonly Standstill[] {
    return this.latest.standstills ?? [];
  }

  /** Handles an event of the sender. Events are ignored once it is gone, because only its reports until then count. */
  receive(event: SenderEvent): void {
    if (this.end !== undefined) return;
    switch (event.kind) {
      case "counts":
        this.latest = event;
        return;
      case "reply":
        this.latest = event;
        this.settle(event.id)?.resolve(event.value);
        return;
      case "refusal":
        this.settle(event.id)?.reject(ERROR_FORM.receive(event.error));
        return;
      case "records":
        this.receiveRecords(event.columns as RecordColumns, event);
        return;
      case "broken":
        this.listener.broken(ERROR_FORM.receive(event.error));
        return;
      default:
        (this.listener[event.name] as ((...args: readonly unknown[]) => void) | undefined)?.(...event.args);
    }
  }

  /**
   * Marks the sender as gone: pending messages get no reply.
   * @param error the reason
   * @param endsRun whether the run ends with it, unless it has ended; default true
   */
  fail(error: Error, endsRun = true): void {
    if (this.end !== undefined) return;
    this.end = error;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
    this.requests?.lost();
    if (endsRun) this.listener.broken(error);
  }

  private receiveRecords(
    records: RecordColumns,
    { count, requests }: Extract<SenderEvent, { readonly kind: "records" }>,
  ): void {
    this.listener.records(records, count);
    if (requests !== undefined) this.requests?.add({ records, count, requests });
  }

  private settle(id: number): Awaited | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (waiting !== undefined && DIVIDING.has(waiting.name)) this.requests?.passed();
    return waiting;
  }

  private createSender(): LoadSender {
    const local: Partial<LoadSender> = {
      aheadNs: () => START_AHEAD_NS,
      progress: () => this.latest.progress,
      counts: () => this.latest.counts,
    };
    return new Proxy(local as LoadSender, {
      get: (target, name) =>
        Reflect.get(target, name) ?? ((...args: readonly unknown[]) => this.call(String(name) as MessageName, args)),
    });
  }

  /** Messages sent without a pause are sent together. */
  private call(name: MessageName, args: readonly unknown[]): Promise<unknown> {
    if (this.end !== undefined) return unheard(Promise.reject(this.end));
    const id = this.nextId++;
    const waiting = { name, ...Promise.withResolvers<unknown>() };
    this.waiting.set(id, waiting);
    if (this.unsent.length === 0) {
      this.saidNs = nowNs();
      queueMicrotask(() => this.flush());
    }
    this.unsent.push({ id, name, args });
    return unheard(waiting.promise);
  }

  private flush(): void {
    const messages = this.unsent;
    this.unsent = [];
    if (this.end === undefined) this.channel.send(messages, this.saidNs);
  }
}

/** Keeps a rejection from being unhandled, because not every reply is awaited. */
function unheard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
