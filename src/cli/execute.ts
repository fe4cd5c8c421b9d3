import type { Plan } from "../plan/plan.ts";
import { UserError } from "../plan/problem.ts";
import { outputFilesOf } from "../report/output-place.ts";
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
    if (!(error instanceof UserError) && outputFilesOf(plan).length > 0)
      (await import("../report/earlier-files.ts")).removeEarlierFiles(plan);
    throw error;
  } finally {
    stopListening();
  }
  finishAll(reports, result);
  return result;
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
