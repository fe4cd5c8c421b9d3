import type { Plan } from "../../plan/plan.ts";
import { formatDurationNs, nsToMs } from "../../plan/units.ts";
import { type Clock, sleepUnless } from "../../runtime/clock.ts";
import type { Moment } from "./messages.ts";

/** After the end of their load, requests have this time to end, or a multiple of the longest latency so far. */
const DRAIN_NS = 10e9;
const DRAIN_LATENCIES = 2;

/** Returns the longest wait for responses at the end of a load. @param longestLatencyNs longest latency of the requests so far */
export function drainLimitNs(longestLatencyNs: number): number {
  return Math.max(DRAIN_NS, DRAIN_LATENCIES * longestLatencyNs);
}

/** Whether the wait for responses at the end of a load is limited. */
export function endsDrain({ behaviour }: Pick<Plan, "behaviour">): boolean {
  return behaviour?.usesWholeHost !== true;
}

/**
 * Limits the wait for responses at the end of a load. @param cancelAll cancels requests without a response, for the given
 * reason
 */
export function limitDrain(
  drained: Promise<void>,
  longestLatencyNs: number,
  clock: Clock,
  cancelAll: (message: string) => void,
): Promise<void> {
  const limitNs = drainLimitNs(longestLatencyNs);
  const cancel = clock.after(nsToMs(limitNs), () =>
    cancelAll(`cancelled without its complete response ${formatDurationNs(limitNs)} after the end of the load`),
  );
  return drained.finally(cancel);
}

/** Longest wait for the end of a round, in rounds. A stalled server must not delay the end of the level for longer than a drain. */
const MOST_ROUNDS = 3;

/** Returns the longest wait for the end of a round. @param roundNs usual length of a round; at most the length of the window */
export function roundLimitNs(roundNs: number, longestLatencyNs: number): number {
  return Math.min(Math.max(MOST_ROUNDS * roundNs, longestLatencyNs), drainLimitNs(longestLatencyNs));
}

/** The rounds of a window. */
export interface Rounds {
  /** Number of requests that the loop keeps in flight. Undefined: the loop has no rounds. */
  readonly size: number | undefined;
  /** Start of the window. */
  readonly startNs: number;
  /** Number of requests that have ended in the window. */
  readonly endedCount: number;
}

/** A driver that sends a closed loop. */
interface Looping {
  readonly clock: Clock;
  readonly endedCount: number;
  readonly activeLanes: number;
  readonly ended: { readonly longestNs: number };
  /** Resolves when this number of requests has ended. */
  reachEnded(count: number): Promise<void>;
}

/**
 * Resolves when every request that was sent before the first response has ended and, unless latencies are alike, as long again has passed:
 * right after the last of these requests those in flight are younger than usual, and a window that began then would have too few slow ones.
 * @param openSentNs returns the send time of each request in flight
 */
export async function untilSteady(
  driver: Omit<Looping, "activeLanes" | "ended">,
  openSentNs: () => readonly number[],
  { limitNs, first, hasRounds }: Omit<Extract<Moment, { readonly kind: "steady" }>, "kind"> & { hasRounds: boolean },
): Promise<void> {
  const { clock } = driver;
  const beganNs = first?.beganNs ?? clock.nowNs();
  if (first === undefined) await driver.reachEnded(driver.endedCount + 1);
  const firstEndNs = first?.endNs ?? clock.nowNs();
  const openCount = (): number => openSentNs().filter((sentNs) => sentNs < firstEndNs).length;
  for (let open = openCount(); open > 0 && clock.nowNs() < limitNs; open = openCount())
    await driver.reachEnded(driver.endedCount + open);
  const nowNs = clock.nowNs();
  const spreadNs = nowNs - firstEndNs;
  const againNs = Math.min(spreadNs, limitNs - nowNs);
  // Where latencies are alike, there is nothing to wait for.
  if (againNs <= 0 || spreadNs <= (firstEndNs - beganNs) / 4) return;
  // A run that stops does not wait for it.
  await new Promise<void>((resolve) => void clock.after(nsToMs(againNs), resolve, true));
  // The rounds of a closed loop are counted from an end.
  if (hasRounds) await driver.reachEnded(driver.endedCount + 1);
}

/**
 * Resolves when the number of requests that ended in the window is a multiple of the requests that the loop keeps in flight, and after a
 * few rounds in any case. The throughput then does not depend on the moment at which the time was over.
 */
export async function untilRoundEnds(driver: Looping, { size, startNs, endedCount }: Rounds): Promise<void> {
  const { clock, activeLanes, ended } = driver;
  if (size === undefined || activeLanes === 0) return;
  const missing = size - (endedCount % size);
  const roundNs = (clock.nowNs() - startNs) / Math.max(1, endedCount / size);
  const limitNs = roundLimitNs(roundNs, ended.longestNs);
  await sleepUnless(nsToMs(limitNs), driver.reachEnded(driver.endedCount + missing), clock);
}

/** Waits for the ends of a driver's requests. A new wait resolves the previous one of its kind. */
export class EndWaits {
  private atMost = 0;
  private onIdle: (() => void) | undefined;
  private goal = Number.POSITIVE_INFINITY;
  private onGoal: (() => void) | undefined;
  private onFinished: (() => void) | undefined;

  /** Resolves when `check` is called with `atMost` or fewer outstanding requests; at once when `outstanding` is low enough. */
  untilOutstanding(outstanding: number, atMost: number): Promise<void> {
    if (outstanding <= atMost) return Promise.resolve();
    return new Promise((resolve) => {
      this.settleIdle();
      this.atMost = atMost;
      this.onIdle = resolve;
    });
  }

  /** Resolves when `check` is called with `goal` or more ended requests; at once when there are enough. */
  untilEnded(ended: number, goal: number): Promise<void> {
    this.settleGoal();
    if (ended >= goal) return Promise.resolve();
    return new Promise((resolve) => {
      this.goal = goal;
      this.onGoal = resolve;
    });
  }

  /** Resolves when `finish` is called. */
  untilFinished(): Promise<void> {
    this.finish();
    return new Promise((resolve) => {
      this.onFinished = resolve;
    });
  }

  /** Whether a caller waits for `finish`. */
  get isFinishAwaited(): boolean {
    return this.onFinished !== undefined;
  }

  finish(): void {
    const resolve = this.onFinished;
    this.onFinished = undefined;
    resolve?.();
  }

  check(outstanding: number, ended: number): void {
    if (this.onIdle !== undefined && outstanding <= this.atMost) this.settleIdle();
    if (ended >= this.goal) this.settleGoal();
  }

  private settleIdle(): void {
    const resolve = this.onIdle;
    this.onIdle = undefined;
    resolve?.();
  }

  private settleGoal(): void {
    const resolve = this.onGoal;
    this.goal = Number.POSITIVE_INFINITY;
    this.onGoal = undefined;
    resolve?.();
  }
}
