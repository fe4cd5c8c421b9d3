import type { Text } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatDurationNs, msToNs } from "../../plan/units.ts";
import { urlsOf } from "../../registry/service-kinds.ts";
import type { RunObserver } from "../../result/observer.ts";
import type { RunSignal } from "../interrupt.ts";
import { answersNothing, areSilent, canAsk } from "../open/silent-server.ts";

/**
 * Detects a server that accepts connections and answers nothing, so that the run does not wait until each of its
 * requests stalls.
 */

/** Time without any response after which the observer hears of it. */
const SLOW_MS = 3000;
/** Part of the stall timeout without any response after which the server is asked something else. */
const SILENT_RATIO = 1 / 2;

/** Number of requests that the server has answered, including with an error, and of those in flight. */
export interface ResponseCounts {
  readonly answeredCount: number;
  readonly outstanding: number;
}

/** The watched run and its counts. */
export interface WatchedRun {
  readonly signal: Pick<RunSignal, "fail">;
  readonly observer: Pick<RunObserver, "onSlowServer">;
  progress(): ResponseCounts;
}

/**
 * Ends a run with an error if none of its requests is answered within half of the stall timeout, and the server does not answer a request
 * of another kind either; a slow server does. perf_analyzer mode does not watch its server, and a run not one that it starts itself.
 * @returns a function that stops watching
 */
export function watchSilence(plan: Plan, { signal, observer, progress }: WatchedRun): () => void {
  if (plan.behaviour?.waitsForSilentServer === true || !canAsk(plan)) return () => {};
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
      signal.fail(
        answersNothing(plan, `within ${formatDurationNs(msToNs(limitMs))}`, hintToRaise("client.stallTimeoutMs")),
      );
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
export function hintToRaise(limit: "client.stallTimeoutMs" | "client.requestTimeoutMs"): Text {
  return ["Look at the server, or raise ", { setting: limit }, "."];
}
