import type { RunTokens } from "../measure/tokens/run-tokens.ts";
import type { RunObserver } from "../result/observer.ts";
import type { RunResult } from "../result/run-result.ts";
import { toRunError } from "./conduct/run-error.ts";
import type { RunSignal } from "./interrupt.ts";
import { RecordHook } from "./record-hook.ts";
import type { RunParts } from "./run-parts.ts";
import { openScrapes } from "./scrapes.ts";
import { sourcesToPage } from "./server-metrics.ts";

/** Time between two queries for the tokens of single requests. */
const INTERVAL_MS = 250;

/**
 * Executes a run and passes the tokens of its requests to the observer: most of them while it lasts, the last ones
 * after its end. If the thread that measures tokens fails only after the end, the result has its error.
 */
export async function followTokens(
  tokens: RunTokens,
  observer: RunObserver,
  execute: () => Promise<RunResult>,
): Promise<RunResult> {
  const pass = async (isLast: boolean): Promise<void> => {
    for (const one of await tokens.takeRequests(isLast)) observer.onTokens?.(one);
  };
  let passing: Promise<void> | undefined;
  const timer = setInterval(() => {
    // An error of the thread ends the run when its levels are merged.
    passing ??= pass(false)
      .catch(() => {})
      .finally(() => {
        passing = undefined;
      });
  }, INTERVAL_MS);
  const result = await execute().finally(() => clearInterval(timer));
  try {
    await passing;
    await pass(true);
    return result;
  } catch (error) {
    return { ...result, error: result.error ?? toRunError(error) };
  }
}

interface Followed extends RunParts {
  readonly signal: RunSignal;
  readonly tokens: RunTokens | undefined;
}

/** Executes a run with its followers besides the observer: scrapes, and the scenario's function for records. */
export async function withFollowers(
  { plan, observer, signal, groups, tokens, session }: Followed,
  execute: (observer: RunObserver) => Promise<RunResult>,
): Promise<RunResult> {
  let around = async (given: RunObserver): Promise<RunResult> => {
    if (tokens === undefined || given.onTokens === undefined) return execute(given);
    return followTokens(tokens, given, () => execute(given));
  };
  if (plan.onRecord !== undefined) {
    const sessions = [session, ...(session.members ?? []).map((member) => member.session)];
    const readsResponses = tokens !== undefined || sessions.some(({ service }) => service.responseReader !== undefined);
    const hook = new RecordHook(plan.onRecord, signal, groups, readsResponses);
    const inner = around;
    around = (given) => hook.around(given, inner);
  }
  if (plan.telemetry.scrapes === undefined) return around(observer);
  return openScrapes(plan.telemetry.scrapes, observer, signal, (url) => sourcesToPage(plan, url)).around(around);
}
