import type { RecordColumns } from "../../measure/records.ts";
import type { RunTokens } from "../../measure/tokens/run-tokens.ts";
import type { Plan } from "../../plan/plan.ts";
import { RUN_EVENTS, type RunObserver } from "../../result/observer.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import type { PackedRequests, RequestReader } from "./packed-requests.ts";
import { RequestJournal } from "./request-journal.ts";
import { RequestOrder } from "./request-order.ts";

/** Longest time that a finished request waits at its sender. */
const INTERVAL_MS = 250;

/** Events that say where the run is, for those who follow single requests. All are passed in order with these. */
const PLACES: readonly (keyof RunObserver)[] = [
  ...(["onPrepared", "onLevelStart", "onPhase", "onWindow", "onEmptyWindow", "onAllStable", "onLevelEnd"] as const),
  ...(["onWindowStart", "onRecordsCut"] as const),
];

type Event = (...args: readonly unknown[]) => void;

/** Ended requests of one sender. */
export interface RequestBatch {
  /** Not used again by the sender. */
  readonly records: RecordColumns;
  readonly count: number;
  readonly requests: PackedRequests;
}

/** Hears of the requests of one sender, in order with its replies. */
export interface RequestListener {
  add(batch: RequestBatch): void;
  /** It has replied to a message that divides requests: see {@link DIVIDING}. */
  passed(): void;
  /** It reports nothing more. */
  lost(): void;
}

/** Names of the messages that divide the requests before them from those after them. */
export const DIVIDING: ReadonlySet<string> = new Set(["cut", "drain", "beginWindow"]);

/** What single requests of several senders need. */
export interface JoinedParts {
  readonly senderCount: number;
  /** What follows the run. */
  readonly observer: RunObserver;
  readonly reader: RequestReader;
  /** Measures the tokens of all senders; undefined when they measure none, or each its own. */
  readonly tokens: RunTokens | undefined;
  readonly plan: Plan;
  readonly clock?: Clock;
  /** The run cannot continue. */
  fail(error: unknown): void;
}

/** Approximate memory of a row of the records. */
const ROW_BYTES = 66;

/** Single requests of several senders, for those who follow a run: each once, between the same events as those of one sender. */
export class JoinedRequests {
  /** What the conductor reports to. */
  readonly observer: RunObserver;
  /** Measures the tokens of all senders; undefined when they measure none, or each its own. */
  readonly tokens: RunTokens | undefined;
  readonly plan: Plan;
  private order: RequestOrder<RequestBatch>;
  private readonly journal: RequestJournal<RequestBatch>;
  /** Requests of a phase that has begun, until the phase is announced. */
  private readonly early: RequestJournal<RequestBatch>;
  /** Events in their order, from the first one that waits for requests before it. */
  private readonly waiting: { readonly pass: () => void; isReady: boolean }[] = [];
  private readonly clock: Clock;
  private drainAll: () => void = () => {};
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor({ plan, senderCount, observer, reader, tokens, clock = systemClock, fail }: JoinedParts) {
    this.plan = plan;
    this.tokens = tokens;
    const sizeOf = ({ count, requests }: RequestBatch): number =>
      count * ROW_BYTES + requests.numbers.byteLength + requests.bytes.length;
    this.journal = new RequestJournal<RequestBatch>({
      ...{ clock, fail, sizeOf },
      handle: ({ records, count, requests }) => {
        reader.read(records, count, requests);
        observer.onBatch?.(records, count);
      },
    });
    this.early = new RequestJournal({ clock, fail, sizeOf, handle: (batch) => this.journal.addBatch(batch) });
    this.clock = clock;
    this.order = this.createOrder(senderCount);
    this.observer = this.follow(observer);
  }

  /** Begins. @param drainAll sends all senders the message to drain their records */
  connect(drainAll: () => void): void {
    this.drainAll = drainAll;
    clearInterval(this.timer);
    this.timer = setInterval(() => this.divide(), INTERVAL_MS);
    this.timer.unref?.();
  }

  /** Returns what hears of the requests of a sender. */
  listenerOf(sender: number): RequestListener {
    return {
      add: (batch) => this.order.add(sender, batch),
      passed: () => this.order.passed(sender),
      lost: () => this.order.lose(sender),
    };
  }

  /** All senders are about to get a message that divides requests. Resolves when those before it are passed on, and none after it. */
  begin(): Promise<void> {
    return this.order.begin();
  }

  /** Has all senders drain their records. @param action runs when these, and nothing that ended later, are passed on */
  divide(action?: () => void): void {
    void this.order.begin(action);
    this.drainAll();
  }

  /** Runs an action after the events and requests before it. @param then runs when the action is in its place */
  emit(run: () => void, then?: () => void): void {
    this.waiting.push({ pass: this.placing(run, then), isReady: true });
    this.passReady();
  }

  /** Resolves when everything is passed on. Call when the senders have ended. */
  async finish(): Promise<void> {
    clearInterval(this.timer);
    this.order.finish();
    for (const event of this.waiting) event.isReady = true;
    this.passReady();
    this.early.resume();
    await this.journal.finish();
  }

  /** Other senders take over: those before have ended. */
  renew(senderCount: number): void {
    this.order.finish();
    this.order = this.createOrder(senderCount);
  }

  private createOrder(senderCount: number): RequestOrder<RequestBatch> {
    return new RequestOrder(senderCount, (batch) => this.pass(batch), this.clock);
  }

  private pass(batch: RequestBatch): void {
    if (this.early.isIdle) this.journal.addBatch(batch);
    else this.early.addBatch(batch);
  }

  /** Returns an observer that passes on the places of a run in order with its requests. Those come from the senders. */
  private follow(observer: RunObserver): RunObserver {
    const followed: Record<string, Event> = {};
    for (const name of RUN_EVENTS) {
      const event = observer[name]?.bind(observer) as Event | undefined;
      if (event === undefined || name === "onBatch") continue;
      followed[name] = PLACES.includes(name) ? (...args) => this.emit(() => event(...args)) : event;
    }
    const { onLevelStart, onPhase }: RunObserver = observer;
    return {
      ...followed,
      // Both are reported at once, when requests that ended before may still be at their senders.
      onPhase: (start) =>
        this.emitAfter(
          () => onPhase?.call(observer, start),
          // The results of the phase before it come first, and take time.
          () => start !== undefined && this.early.pause(),
        ),
      onLevelStart: (unit, level, isWarmup, phase) => {
        const run = (): void => onLevelStart?.call(observer, unit, level, isWarmup, phase);
        if (phase === undefined) this.emitAfter(run);
        else this.emit(run, () => this.early.resume());
      },
    };
  }

  /** Like `emit`, also after the requests that have ended and are still at their senders. */
  private emitAfter(run: () => void, then?: () => void): void {
    const event = { pass: this.placing(run, then), isReady: false };
    this.waiting.push(event);
    this.divide(() => {
      event.isReady = true;
      this.passReady();
    });
  }

  private placing(run: () => void, then: (() => void) | undefined): () => void {
    return () => {
      this.journal.addEvent(run);
      then?.();
    };
  }

  private passReady(): void {
    while (this.waiting[0]?.isReady === true) this.waiting.shift()?.pass();
  }
}
