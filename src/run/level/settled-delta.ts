import { type ServerDelta, subtractCounters } from "../../measure/server-delta.ts";
import { sleepMs, systemClock } from "../../runtime/clock.ts";
import type { ServerCounters } from "../../service/statistics.ts";
import type { Session } from "../target/session.ts";

/** A server's counters may lag behind its answers: how long to wait for them to move. */
const COUNTER_LAG_MS = 500;
const COUNTER_POLL_MS = 20;

/** A change of the server's counters. */
export interface SettledDelta {
  /** Undefined where the counters do not tell it. */
  readonly delta: ServerDelta | undefined;
  /** The counters at its end. */
  readonly after: ServerCounters[];
}

/**
 * The change of the server's counters since `before`, once it accounts for so many successes or has had its time to. Undefined where the
 * server has no counters; rejects when it cannot be asked.
 */
export async function awaitDelta(
  session: Session,
  before: readonly ServerCounters[],
  successCount: number,
  clock = systemClock,
): Promise<SettledDelta | undefined> {
  const { model, composing } = session.service;
  const called = { name: model.name, version: model.version, composing };
  const giveUpNs = clock.nowNs() + COUNTER_LAG_MS * 1e6;
  for (;;) {
    const after = await session.counters();
    if (after === undefined) return undefined;
    const delta = subtractCounters(before, after, called);
    if ((delta?.successCount ?? 0) >= successCount || clock.nowNs() > giveUpNs) return { delta, after };
    await sleepMs(COUNTER_POLL_MS, clock);
  }
}
