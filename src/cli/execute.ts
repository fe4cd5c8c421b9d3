import type { Plan } from "../plan/plan.ts";
import { type FailureFacts, RunError } from "../plan/problem.ts";
import type { Report, TextSink } from "../report/report.ts";
import { joinObservers, type RunObserver, type RunResult } from "../run/observer.ts";
import { ALONE, type Peers } from "../run/peers.ts";
import { startPlan } from "../run/run-plan.ts";

/** What a command is given by the executable: where its text goes, and how it learns of Ctrl-C. */
export interface CommandIo extends TextSink {
  /**
   * Calls back at the first Ctrl-C from now on; the process no longer ends by itself. Returns how to stop listening.
   * @param leave called at the second one, after which the process ends at once: files that are not whole can be removed
   */
  onInterrupt(callback: () => void, leave?: () => void): () => void;
  /** What `"rampart"` exports to a scenario. */
  loadApi(): Promise<object>;
}

/**
 * Runs a plan with its reports.
 * @param onInterrupt called at the first Ctrl-C
 * @param peers with whom; it is left open
 * @throws UserError for a plan that cannot be run, RunError when the target does not let it begin
 */
export async function executePlan(
  plan: Plan,
  io: CommandIo,
  onInterrupt: () => void,
  peers: Peers = ALONE,
): Promise<RunResult> {
  let reports: Report[] = [];
  // Until there is something to report a Ctrl-C ends the process as it always does.
  let stopListening = (): void => {};
  const openReports = async (): Promise<RunObserver> => {
    const discardAll = (): void => {
      for (const report of reports) report.discard?.();
    };
    stopListening = io.onInterrupt(() => {
      for (const report of reports) report.onInterrupt?.();
      onInterrupt();
      running.interrupt();
    }, discardAll);
    const { createReports } = await import("../report/reports.ts");
    reports = await createReports(plan, io);
    return joinObservers(reports);
  };
  const check = async (): Promise<unknown> => (await import("../registry/check-plan.ts")).checkPlan(plan);
  const running = startPlan(plan, openReports, check, peers);
  let result: RunResult;
  try {
    result = await running.result;
  } catch (error) {
    for (const report of reports) report.discard?.();
    const hint = error instanceof RunError ? await hintOf(plan, error.failure) : undefined;
    throw hint === undefined ? error : withHint(error as RunError, hint);
  } finally {
    stopListening();
  }
  result = await withHintOf(result);
  finishAll(reports, result);
  return result;
}

/** Where no request succeeded: what to change, if that is known. */
async function withHintOf(result: RunResult): Promise<RunResult> {
  if (result.completedCount > 0 || result.isInterrupted) return result;
  const failure = result.failures.find(({ kind }) => kind !== "aborted" && kind !== "cancelled");
  const facts = failure && { kind: failure.kind, status: failure.status, message: failure.example };
  const hint = await hintOf(result.prepared.plan, facts);
  if (hint === undefined) return result;
  return { ...result, hint, error: result.error && withHint(result.error, hint) };
}

async function hintOf(plan: Plan, failure: FailureFacts | undefined): Promise<string | undefined> {
  return failure && (await import("./failure-hints.ts")).findHint(plan, failure);
}

function withHint({ kind, message, failure }: RunError, hint: string): RunError {
  return new RunError(kind, message, hint, failure);
}

/** One report that fails must not cost the user the others. Throws the first error. */
function finishAll(reports: readonly Report[], result: RunResult): void {
  const errors: unknown[] = [];
  for (const report of reports) {
    try {
      report.finish(result);
    } catch (error) {
      report.discard?.();
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
