import { repeatRuns, unstartedRun } from "../campaign/repeat-runs.ts";
import type { HeldEntries } from "../inputs/held-entries.ts";
import { SpareThreads, type TokenLink } from "../measure/tokens/token-link.ts";
import { type NameOf, type Text, word } from "../plan/messages.ts";
import type { Plan, RepeatPlan } from "../plan/plan.ts";
import { type FailureFacts, type Problem, RunError, UserError, wordError } from "../plan/problem.ts";
import { checkPlan } from "../registry/check-plan.ts";
import { planOfRun } from "../registry/load-modes.ts";
import { removeEarlierFiles } from "../report/output-file.ts";
import { outputFilesOf } from "../report/output-place.ts";
import { type GuardedReport, guardReport, joinOutputErrors, type TextSink } from "../report/report.ts";
import { createReports, type ReportWatch } from "../report/report-formats.ts";
import type { ScenarioReportJson } from "../report/schema/scenarios.ts";
import { broadcast, type RunObserver } from "../result/observer.ts";
import type { RepeatedResult } from "../result/repeated-result.ts";
import type { RunResult } from "../result/run-result.ts";
import { settleTokenizers } from "../run/open/settle-tokenizers.ts";
import { ALONE, type Peers } from "../run/peers/peers.ts";
import { type RunningPlan, startPlan } from "../run/run-plan.ts";
import type { FunctionsSource } from "../scenario/thread-functions.ts";
import { findHint } from "./failure-hints.ts";

/** Signals that end a run gracefully. */
export type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Input and output of a command: its text output, the names that it uses, and notification of Ctrl-C. */
export interface CommandIo extends TextSink {
  /**
   * Calls back at the first Ctrl-C, SIGTERM or SIGHUP. Until the listener is removed, a signal does not end the process by itself. Returns
   * a function that removes the listener.
   * @param leave called at the second signal, before the process exits, to remove partial files. If it returns a promise, the process exits
   * when the promise settles, or at the third signal.
   */
  onInterrupt(callback: (signal: EndSignal) => void, leave?: () => Promise<void> | undefined): () => void;
  /** Loads the module that a scenario imports as `"rampart"`. */
  loadApi(): Promise<object>;
  /** Writes data for another program to standard output unchanged, with secrets and control characters. Absent: `out` receives it. */
  pipe?(text: string): void;
  /** Reason why standard output could not be written, in words; undefined if it can be written or this is unknown. */
  readonly outputFailure?: string | undefined;
}

/** A run and its reports. */
export interface ExecutedPlan {
  /** Result of the run; of the last one if the plan is repeated. */
  readonly result: RunResult;
  /** All runs of a plan that is repeated; absent otherwise. */
  readonly repeated?: RepeatedResult;
  /** Errors of files that could not be written; undefined if there are none. */
  readonly outputError: RunError | undefined;
}

/** Observer of one of several runs. */
export interface PointWatch extends ReportWatch {
  /** Receives the plan, which is then not run. Absent: the plan is run. */
  onPlan?(plan: Plan): void;
  /** Runs at the same time. Absent: none. */
  readonly peers?: Peers;
}

/** One of the runs of a scenario that has several. */
export interface PlannedRun {
  readonly name: string;
  readonly plan: Plan;
}

/** Receives the runs in order. @param areAtOnce whether they run at the same time */
export type OnRuns = (runs: readonly PlannedRun[], areAtOnce: boolean) => void;

/** Receives the report of a scenario, with all of its runs. */
export type OnReport = (json: ScenarioReportJson) => void;

/** Options of a front door for running its plan. */
export interface ExecuteOptions {
  /** Called at the first Ctrl-C. Default: prints that requests in flight are awaited. */
  readonly onInterrupt?: (signal: EndSignal) => void;
  /** Processes that measure together; not closed. Default: none. */
  readonly peers?: Peers;
  /** Measures the tokens of responses; not closed. Default: one for this run. */
  readonly meter?: TokenLink;
  /** Token threads that were started before. Those that the run does not need are ended. Default: none. */
  readonly spare?: SpareThreads | undefined;
  /** True if the run checks the plan, after its first requests. Default: the front door has checked it. */
  readonly isUnchecked?: true;
  /** The entries of the plan's input file, which is then not read. Default: the file is read. */
  readonly held?: HeldEntries | undefined;
  /** Source of the scenario's functions for other threads. Default: the plan has none. */
  readonly functions?: FunctionsSource | undefined;
  /** Additional receiver of the report. Default: none. */
  readonly watch?: ReportWatch | undefined;
  /** Adds the position in the scenario to a problem with a setting or file. Default: there is no scenario. */
  readonly place?: ((problem: Problem) => Problem) | undefined;
}

const WAITING = "waiting for requests in flight (press Ctrl-C again to stop at once)";

/**
 * Runs a plan with its reports. A write error of one report ends neither the run nor the other reports.
 * @throws UserError for a plan that cannot be run, RunError if the target prevents its start
 */
export async function executePlan(given: Plan, io: CommandIo, options: ExecuteOptions = {}): Promise<ExecutedPlan> {
  const { onInterrupt, peers = ALONE, meter, spare = new SpareThreads(), held, functions, isUnchecked } = options;
  const { watch, place } = options;
  const plan = await settleTokenizers(given, (text) => io.err(`rampart: ${word(text, io.nameOf)}\n`), spare);
  let reports: GuardedReport[] = [];
  let observer: RunObserver | undefined;
  let isInterrupted = false;
  let isOver = false;
  let isInterruptedLate = false;
  let running: RunningPlan | undefined;
  // Until there is something to report, Ctrl-C ends the process as usual.
  let stopListening = (): void => {};
  const discardAll = (): undefined => {
    for (const report of reports) report.discard?.();
  };
  const openReports = async (): Promise<RunObserver> => {
    if (observer !== undefined) return observer;
    stopListening = io.onInterrupt((signal) => {
      // The measurement is complete, and its reports are nearly so.
      isInterruptedLate = isOver;
      if (isOver) return;
      for (const report of reports) report.onInterrupt?.();
      if (onInterrupt === undefined) io.err(`rampart: interrupted by ${signal}, ${WAITING}\n`);
      else onInterrupt(signal);
      isInterrupted = true;
      running?.interrupt();
    }, discardAll);
    const warn = ({ message }: RunError): void => io.err(`rampart: ${message}; the run continues without it\n`);
    reports = (await createReports(plan, io, meter, watch)).map((report) => guardReport(report, warn));
    observer = broadcast(reports);
    return observer;
  };
  const check = isUnchecked === true ? async (): Promise<unknown> => checkPlan(plan) : undefined;
  const runOnce = async (number: number): Promise<RunResult> => {
    const parts = { openObserver: openReports, check, peers, meter, held, spare, functions };
    running = startPlan(planOfRun(plan, number), parts);
    // An interrupt between two runs of a repeated plan found no run to interrupt.
    if (isInterrupted) running.interrupt();
    return running.result;
  };
  // The scenario's code may end the process. No partial files must remain then.
  process.on("exit", discardAll);
  const { repeat } = plan;
  try {
    let repeated: RepeatedResult;
    try {
      repeated =
        repeat === undefined ? { runs: [await runOnce(1)] } : await executeRepeated(plan, repeat, runOnce, openReports);
    } catch (error) {
      if (!(error instanceof UserError) && outputFilesOf(plan).length > 0) removeEarlierFiles(plan);
      if (error instanceof UserError && place !== undefined)
        throw wordError(new UserError(error.problems.map(place)), io.nameOf);
      const hint = error instanceof RunError ? await hintOf(plan, error.facts.failure) : undefined;
      throw wordError(
        hint === undefined ? error : (error as RunError).reword((error as RunError).text, hint),
        io.nameOf,
      );
    } finally {
      await spare.close();
    }
    isOver = true;
    const executed = await finishReports(reports, plan, repeated, io);
    if (isInterruptedLate && executed.outputError === undefined)
      throw new RunError("interrupted", "interrupted while the reports were written", "They are complete.");
    return executed;
  } catch (error) {
    discardAll();
    throw error;
  } finally {
    stopListening();
    process.off("exit", discardAll);
  }
}

async function finishReports(
  reports: readonly GuardedReport[],
  { repeat }: Plan,
  repeated: RepeatedResult,
  { nameOf }: CommandIo,
): Promise<ExecutedPlan> {
  const runs: RunResult[] = [];
  for (const run of repeated.runs) runs.push(await inWords(run, nameOf));
  const result = runs.at(-1) as RunResult;
  const worded = { ...repeated, runs };
  for (const report of reports) await (repeat === undefined ? report.finish(result) : report.finishRuns(worded));
  const outputError = wordError(joinOutputErrors(reports.flatMap(({ error }) => error ?? [])), nameOf);
  return { result, outputError, ...(repeat === undefined ? {} : { repeated: worded }) };
}

/** Runs a plan several times with the same reports. If a later run cannot start, the repetition ends, and the earlier runs count. */
async function executeRepeated(
  plan: Plan,
  repeat: RepeatPlan,
  runOnce: (number: number) => Promise<RunResult>,
  openReports: () => Promise<RunObserver>,
): Promise<RepeatedResult> {
  let first: RunResult | undefined;
  return repeatRuns(plan, repeat, async (run) => {
    (await openReports()).onRun?.(run, repeat.atMost);
    try {
      const result = await runOnce(run);
      first ??= result;
      return result;
    } catch (error) {
      if (first === undefined || !(error instanceof RunError)) throw error;
      return unstartedRun(first, error);
    }
  });
}

/** Adds the reason why a run failed, in words, and a hint, if known, when no request succeeded. */
async function inWords(result: RunResult, nameOf: NameOf | undefined): Promise<RunResult> {
  const { completedCount, isInterrupted, failures, prepared, error } = result;
  const failure = failures.find(({ kind }) => kind !== "aborted" && kind !== "cancelled");
  const facts = failure && { kind: failure.kind, status: failure.status, message: failure.example };
  const hint = completedCount > 0 || isInterrupted ? undefined : await hintOf(prepared.plan, facts);
  return {
    ...result,
    ...(hint === undefined ? {} : { hint: word(hint, nameOf) }),
    error: wordError(error?.reword(error.text, hint), nameOf),
  };
}

async function hintOf(plan: Plan, failure: FailureFacts | undefined): Promise<Text | undefined> {
  return failure && findHint(plan, failure);
}
