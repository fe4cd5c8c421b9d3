import type { Plan } from "../plan/plan.ts";
import type { RunResult } from "../result/run-result.ts";
import { systemClock } from "../runtime/clock.ts";
import { Conductor } from "./conduct/conductor.ts";
import { toRunError } from "./conduct/run-error.ts";
import { joinRequests } from "./fleet/wanted-requests.ts";
import { withFollowers } from "./followers.ts";
import { RunSignal } from "./interrupt.ts";
import { type OpenOptions, type OpenRun, openRun } from "./open-run.ts";
import { timestampsOf } from "./open-sender.ts";
import { measuresTokens } from "./open-sending.ts";
import { ALONE, type Peers } from "./peers/peers.ts";

/** A run that can be interrupted. */
export interface RunningPlan {
  /** Resolves with the result, also after an interrupt or an error during the run. Rejects when the run could not begin. */
  readonly result: Promise<RunResult>;
  /** Ends the run early with a partial result. */
  interrupt(): void;
}

/** What a run needs besides its plan. */
export interface RunOptions extends OpenOptions {
  /** The other processes of the measurement. Default: none. */
  readonly peers?: Peers | undefined;
}

/**
 * Starts a plan's run: connects to the target and sends the first request as soon as possible. Before that it refuses parts of an
 * unchecked plan that do not fit together.
 */
export function startPlan(plan: Plan, options: RunOptions): RunningPlan {
  const signal = new RunSignal();
  return { result: runPlan(plan, signal, options), interrupt: () => signal.interrupt() };
}

async function runPlan(plan: Plan, signal: RunSignal, options: RunOptions): Promise<RunResult> {
  const open = await openRun(plan, signal, options);
  try {
    return await followRun(open, signal, options);
  } finally {
    await open.close();
  }
}

/** Conducts an opened run to its end, with what listens to it. */
async function followRun(
  { parts, sending, fleet, growth, requests, hostLimits, metrics, startNs }: OpenRun,
  signal: RunSignal,
  { check, peers = ALONE }: RunOptions,
): Promise<RunResult> {
  const { plan } = parts;
  const { tokens, sessions, laneCount, feed, createSender } = sending;
  const conducting = {
    ...{ signal, clock: systemClock, laneCount, hostLimits },
    hasTokens: tokens !== undefined || (fleet !== undefined && measuresTokens(plan)),
    turnCount: sessions?.turnCount,
    timestampsMs: timestampsOf(parts),
    poller: metrics?.poller,
    ...{ peers, startNs, check },
  };
  return withFollowers({ ...parts, signal, tokens }, async (followers) => {
    const joined =
      fleet &&
      requests &&
      joinRequests({
        ...{ ...parts, ...requests, observer: followers, feed, tokens, senderCount: fleet.count },
        fail: (error) => signal.fail(toRunError(error)),
      });
    const result = await new Conductor({
      ...{ ...parts, ...conducting, observer: joined?.observer ?? followers },
      growth,
      createSender: (listener) => fleet?.createSender(listener, joined) ?? createSender(listener, followers),
    }).execute();
    await joined?.finish();
    return joined === undefined ? result : { ...result, error: result.error ?? signal.error };
  });
}
