import type { Sequences } from "../../load/sequences.ts";
import type { DelayedRequests } from "../../result/run-result.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Slots } from "./slots.ts";

/** The driver's interface for loads. */
export interface Sender {
  readonly clock: Clock;
  /** Slot `s` belongs to lane `s % laneCount`. */
  readonly laneCount: number;
  /** Whether a lane waits for its response before the next send. */
  readonly isSync: boolean;
  readonly slots: Slots;
  /**
   * Whether a closed loop reads what has arrived, and then sends. When tokens of many streams arrive at once, a request sent between two reads
   * would make the tokens read after it look late. A delayed request's own times count from its send.
   */
  readonly readsFirst: boolean;
  /** Absent when requests do not belong to sequences. */
  readonly sequences: Sequences | undefined;
  /** Number of requests still to send, without sequence ends. */
  readonly quota: number;
  /** Number of outstanding requests. */
  readonly outstanding: number;
  /** Maximum number of outstanding requests; sending ends when a load needs more. */
  readonly maxOutstanding: number;
  /** Reduces the number of requests still to send. */
  skipRemaining(count: number): void;
  /** Makes this number of slots usable. */
  reserve(count: number): Promise<void>;
  /** Whether the slot has no request and is not waiting to retry. */
  isIdle(slot: number): boolean;
  /** Sets the number of active lanes: the stride with which each goes through the data. */
  setActiveLanes(count: number): void;
  /** Makes each request take the next step of the data, for loads whose active lanes change all the time. */
  shareSteps(): void;
  /**
   * Sends the slot's next request, if the quota allows.
   * @param sequence index of the sequence to continue, if there are sequences
   * @param intendedNs due time; NaN: now
   */
  send(slot: number, sequence: number, intendedNs: number, isDelayed: boolean): void;
  /** Sends the request that ends an open sequence. */
  sendEnd(slot: number, sequence: number): void;
  flush(): void;
  /** Resolves when at most this many requests are outstanding. */
  waitForOutstanding(atMost: number): Promise<void>;
  /** Runs an event-loop callback and ends the run on an exception, which would otherwise be lost. */
  guard(action: () => void): void;
}

/** Decides when each slot sends; one implementation per kind of load. */
export interface ActiveLoad {
  /** Number of lanes that can have an outstanding request. */
  readonly activeLanes: number;
  /** Requests delayed by a limit of outstanding requests; undefined without a limit. */
  readonly delayedByLimit?: DelayedRequests | undefined;
  /** Returns the number of requests that are due by then and not sent, and skips them. Absent: none has a due time. */
  takeUnsent?(atNs: number): number;
  /** Called when a level begins that is measured. */
  beginLevel?(): void;
  /** Called when a slot's request has ended. */
  next(slot: number): void;
  /** Called for each response of a slot's request, with the number of responses so far, including an empty last one. */
  onResponse?(slot: number, responseCount: number): void;
  /** Called when a slot's request has failed, before `next`. */
  onFailed?(slot: number): void;
  /** Stops sending, except for the ends of open sequences. */
  stop(): void;
}
