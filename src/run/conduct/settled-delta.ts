import { type ServerDelta, subtractCounters } from "../../measure/server-delta.ts";
import { msToNs } from "../../plan/units.ts";
import { sleepMs, systemClock } from "../../runtime/clock.ts";
import type { ServerCounters } from "../../service/server-counters.ts";
import type { Session } from "../open/session.ts";
import type { LevelContext } from "./level-context.ts";

/** Maximum wait for a server's counters, which may lag behind its responses. */
const COUNTER_LAG_MS = 500;
const COUNTER_POLL_MS = 20;

/** Increase of the server's counters. */
export interface SettledDelta {
  /** Undefined when the counters are not sufficient. */
  readonly delta: ServerDelta | undefined;
  readonly after: ServerCounters[];
}

/**
 * Returns the number of successes that the counters must include for a window: all of them when nothing is in flight before and after it.
 * Under load, any increase is enough.
 * @param completed requests that completed in the window @param isFromNothing whether no request was in flight at its start
 */
export function successesToAwait(
  { plan, sender }: Pick<LevelContext, "plan" | "sender">,
  completed: number,
  isFromNothing: boolean,
): number {
  const isExact = isFromNothing && plan.measurement.mode.kind === "requests" && sender.progress().outstanding === 0;
  return isExact ? completed : Math.min(1, completed);
}

/**
 * Returns the increase of the server's counters since `before`, once it includes the given number of successes or the maximum wait is
 * over. Undefined when the server has no counters. Rejects when the server cannot be queried.
 */
export async function awaitDelta(
  session: Session,
  before: readonly ServerCounters[],
  successCount: number,
  clock = systemClock,
): Promise<SettledDelta | undefined> {
  const { model, composing = [] } = session.service;
  const called = { name: model.name, version: model.version, composing };
  const deadlineNs = clock.nowNs() + msToNs(COUNTER_LAG_MS);
  for (;;) {
    const after = await session.counters();
    if (after === undefined) return undefined;
    const delta = subtractCounters(before, after, called);
    if ((delta?.successCount ?? 0) >= successCount || clock.nowNs() > deadlineNs) return { delta, after };
    await sleepMs(COUNTER_POLL_MS, clock);
  }
}
