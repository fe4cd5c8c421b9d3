import { type Clock, DueTimer, systemClock } from "../runtime/clock.ts";

/** Resolves at a time, never earlier. @param dueNs time on the clock */
export function waitUntil(dueNs: number, clock: Clock = systemClock): Promise<void> {
  if (clock.nowNs() >= dueNs) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = new DueTimer(() => {
      timer.clear();
      resolve();
    }, clock);
    timer.set(dueNs);
  });
}
