import type { Sequences } from "../../load/sequences.ts";
import type { DelayedRequests } from "../../result/run-result.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Slots } from "./slots.ts";

/** The part of the driver that differs from one kind of load to another: when which slot sends. One file per kind. */

/** What a load may do. */
export interface Sender {
  readonly clock: Clock;
  /** Slots are dealt to so many lanes. */
  readonly laneCount: number;
  /** A lane waits for its answer before it sends again. */
  readonly isSync: boolean;
  readonly slots: Slots;
  /** Absent where requests belong to no sequences. */
  readonly sequences: Sequences | undefined;
  /** Requests that may still be sent; ends of sequences do not count. */
  readonly quota: number;
  /** Requests sent and not answered. */
  readonly outstanding: number;
  /** So many of the requests that may still be sent will not be. */
  skipRemaining(count: number): void;
  /** Makes so many slots usable. */
  reserve(count: number): Promise<void>;
  /** Whether the slot has no request and waits for nothing. */
  isIdle(slot: number): boolean;
  /** Lanes that send: the stride with which each goes through the data. */
  setActiveLanes(count: number): void;
  /** Lanes that send change all the time: each request takes the next step of the data. */
  shareSteps(): void;
  /**
   * Sends the slot's next request, as far as the quota allows.
   * @param sequence index of the sequence it continues, where there are any
   * @param intendedNs when it was due; NaN: now
   */
  send(slot: number, sequence: number, intendedNs: number, isDelayed: boolean): void;
  /** Sends the request that ends an open sequence. */
  sendEnd(slot: number, sequence: number): void;
  flush(): void;
  /** Resolves when so few requests are outstanding. */
  waitForQuiet(atMost: number): Promise<void>;
  /** For what the event loop calls: an exception there would be lost, and with it the run. */
  guard(action: () => void): void;
}

/** A load that is under way. */
export interface ActiveLoad {
  /** Lanes that can have a request outstanding. */
  readonly activeLanes: number;
  /** What waited so far because of a limit of requests outstanding; undefined where there is none. */
  readonly delayedByLimit?: DelayedRequests | undefined;
  /** What a slot does once its request is over. */
  next(slot: number): void;
  /** A response of the slot's request has come; so many there are by now, an empty last one included. */
  onResponse?(slot: number, responseCount: number): void;
  /** The slot's request has failed; `next` follows. */
  onFailed?(slot: number): void;
  /** Sends nothing more, but the ends of open sequences. */
  stop(): void;
}
