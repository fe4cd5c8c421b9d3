import type { Text } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatDurationNs, msToNs } from "../../plan/units.ts";
import { urlsOf } from "../../registry/service-kinds.ts";
import type { RunObserver } from "../../result/observer.ts";
import type { RunSignal } from "../interrupt.ts";
import { answersNothing, areSilent, canAsk } from "../open/silent-server.ts";

/** A server that accepts connections and answers nothing: the run does not wait until each of its requests stalls. */

/** Time without any response after which the observer hears of it. */
const SLOW_MS = 3000;
/** Part of the stall timeout without any response after which the server is asked something else. */
const SILENT_RATIO = 1 / 2;

/** Requests that the server has answered, also with an error, and those in flight. */
export interface ResponseCounts {
  readonly answeredCount: number;
  readonly outstanding: number;
}

/** What is known of the run. */
export interface WatchedRun {
  readonly signal: Pick<RunSignal, "fail">;
  readonly observer: Pick<RunObserver, "onSlowServer">;
  progress(): ResponseCounts;
}

/**
 * Reports after 3 s that the server has answered nothing, and ends a run with an error if none of its requests is answered after half of the
 * stall timeout, and the server does not answer other requests either, which a slow one does. It does not end after 3 s, because a server
 * with one thread answers nothing else while it works on a request. A server that is waited for, or that the run starts, is not watched.
 * @returns stops watching
 */
export function watchSilence(plan: Plan, { signal, observer, progress }: WatchedRun): () => void {
  if (plan.behaviour?.waitsForServer === true || !canAsk(plan)) return () => {};
  const limitMs = SILENT_RATIO * plan.client.stallTimeoutMs;
  let isOver = false;
  const isUnanswered = (): boolean => {
    const { answeredCount, outstanding } = progress();
    isOver ||= answeredCount > 0;
    return !isOver && outstanding > 0;
  };
  const first = setTimeout(() => {
    if (isUnanswered()) for (const url of urlsOf(plan.target)) observer.onSlowServer?.(url);
  }, SLOW_MS);
  const check = async (): Promise<void> => {
    if (isUnanswered() && (await areSilent(plan)) && isUnanswered()) {
      isOver = true;
      signal.fail(answersNothing(plan, `within ${formatDurationNs(msToNs(limitMs))}`, raise("client.stallTimeoutMs")));
    }
    if (!isOver) timer = setTimeout(() => void check(), limitMs);
  };
  let timer = setTimeout(() => void check(), limitMs);
  return () => {
    isOver = true;
    clearTimeout(first);
    clearTimeout(timer);
  };
}

/** Returns the hint for requests that are not answered. @param limit the setting that lets them wait longer */
export function raise(limit: "client.stallTimeoutMs" | "client.requestTimeoutMs"): Text {
  return ["Look at the server, or raise ", { setting: limit }, "."];
}
