import type { Sequences } from "../../load/sequences.ts";
import type { DelayedRequests } from "../../result/run-result.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Slots } from "./slots.ts";

/** The driver as loads see it. */
export interface Sender {
  readonly clock: Clock;
  /** Slot `s` belongs to lane `s % laneCount`. */
  readonly laneCount: number;
  /** Whether a lane waits for its response before the next send. */
  readonly isSync: boolean;
  readonly slots: Slots;
  /**
   * Whether a closed loop reads everything that has arrived before it sends. When tokens of many streams arrive at once, a request sent
   * between two reads would delay the timestamps of the tokens read after it. A delayed request's times count from its send.
   */
  readonly readsFirst: boolean;
  /** Absent when requests do not belong to sequences. */
  readonly sequences: Sequences | undefined;
  /** Number of requests left to send, without sequence ends. */
  readonly quota: number;
  /** End of a schedule, see {@link LevelStart}. Infinity: unknown. */
  readonly endNs: number;
  readonly outstanding: number;
  /** Maximum number of outstanding requests; sending ends when a load needs more. */
  readonly maxOutstanding: number;
  /** Reduces the number of requests left to send. */
  skipRemaining(count: number): void;
  /** Makes a number of slots usable. */
  reserve(count: number): Promise<void>;
  /** Whether the slot has no request and does not wait to retry. */
  isIdle(slot: number): boolean;
  /** Sets the number of active lanes: the stride with which each goes through the data. */
  setActiveLanes(count: number): void;
  /** Makes each request take the next step of the data, for loads whose number of active lanes changes all the time. */
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
  /** Returns the number of requests that are due by `atNs` and not sent, and skips them. Absent: no request has a due time. */
  takeUnsent?(atNs: number): number;
  /** Called when a measured level begins. */
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
