import type { MessagePort } from "node:worker_threads";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { registeredSecrets, registerSecret } from "../../plan/secrets.ts";
import { ERROR_FORM, type SentError } from "../../plan/sent-error.ts";
import type { TokensPlan } from "../../plan/tokens.ts";
import { toEpochNs } from "../../runtime/clock.ts";
import { type CallPort, serveCalls, WorkerCalls, WorkerError } from "../../runtime/worker-calls.ts";
import { startWorker } from "../../runtime/workers.ts";
import type { AnswerKind } from "../../service/openai/answer-kind.ts";
import { parseResponseField } from "../../service/openai/response-field.ts";
import { loadTokenizer } from "../../tokenize/load-tokenizer.ts";
import type { TokenCounter } from "./answer-times.ts";
import type { MeasuredSink } from "./measured-request.ts";
import { AnswerPacker, type PackedAnswers } from "./packed-answers.ts";
import { TokenColumns, type TokenRows } from "./token-columns.ts";
import { TokenGaps } from "./token-gaps.ts";
import { TokenMeter } from "./token-meter.ts";

/** Measures the tokens of answers in a separate thread. The thread that times them only packs their bytes. */

/** What a meter needs to know when a run begins. */
export interface MeteredRun {
  readonly plan: TokensPlan;
  /** Path of the file of single requests; empty for none. */
  readonly recordsFile: string;
  /** For requests that do not name a model. */
  readonly model: string;
  /** Zero of the caller's monotonic clock, in nanoseconds since the epoch. */
  readonly originEpochNs: bigint;
  /** Start of the run, in nanoseconds since the epoch. */
  readonly startEpochNs: bigint;
}

/** A task for a meter. */
export type TokenTask =
  /** The reply arrives when the tokenizer is loaded. */
  | { readonly kind: "open" }
  | { readonly kind: "begin"; readonly run: MeteredRun }
  | { readonly kind: "answers"; readonly packed: PackedAnswers }
  | { readonly kind: "warm-up" | "reset" | "cut" | "resume" | "discard" }
  /** The reply is `TokenRows`. */
  | { readonly kind: "merge"; readonly windowCount: number }
  | { readonly kind: "finish" };

/** A file of single requests that is being written. */
export interface RequestFile extends MeasuredSink {
  finish(): void;
  discard(): void;
}

/** What a meter can use besides the answers. */
export interface MeterHelp {
  readonly countTokens: TokenCounter | undefined;
  /** Counts the tokens of a body that was created in this thread. */
  countPayload?(payload: string): number;
  /** Opens the file of single requests. @throws RunError when it cannot be written */
  openRecords?(run: MeteredRun): RequestFile;
}

/** The thread's side: performs the tasks. */
export class MeterDesk {
  private readonly help: MeterHelp;
  private meter: TokenMeter | undefined;
  private gaps: TokenGaps | undefined;
  private records: RequestFile | undefined;
  private recordsError: unknown;

  constructor(help: MeterHelp) {
    this.help = help;
  }

  /** Returns the reply. @throws RunError at the end, when the file of single requests could not be written */
  handle(task: TokenTask): TokenRows | undefined {
    const { meter } = this;
    if (task.kind === "begin") this.begin(task.run);
    else if (task.kind === "answers") meter?.addPacked(task.packed);
    else if (task.kind === "warm-up") meter?.warmUp();
    else if (task.kind === "reset") meter?.reset();
    else if (task.kind === "cut") meter?.cut();
    else if (task.kind === "resume") meter?.resume();
    else if (task.kind === "merge") return this.merge(task.windowCount);
    else if (task.kind === "finish") this.finish();
    else if (task.kind === "discard") this.records?.discard();
    return undefined;
  }

  private begin(run: MeteredRun): void {
    const { answers, field, isStreamed, isLengthAsked, keepsAllWindows, wantsGaps } = run.plan;
    const { countTokens, countPayload, openRecords } = this.help;
    this.gaps = wantsGaps === true ? new TokenGaps() : undefined;
    this.recordsError = undefined;
    this.records = undefined;
    if (run.recordsFile !== "") this.guard(() => (this.records = openRecords?.(run)));
    const sink: MeasuredSink = {
      onMeasured: (request) => {
        if (request.answered !== undefined) this.gaps?.add(request.answered.times.contentNs);
        this.guard(() => this.records?.onMeasured(request));
      },
      onFailure: (failure) => this.guard(() => this.records?.onFailure?.(failure)),
    };
    this.meter = new TokenMeter({
      kind: answers as AnswerKind,
      field: field === undefined ? undefined : parseResponseField(field),
      wantsStreams: isStreamed,
      isLengthAsked,
      keepsAllWindows,
      readsModels: this.records !== undefined,
      countTokens,
      countPayload,
      sink: this.records === undefined && this.gaps === undefined ? undefined : sink,
    });
  }

  private merge(windowCount: number): TokenRows {
    const merged = (this.meter as TokenMeter).merge(windowCount);
    merged.gaps = this.gaps?.summarize();
    return merged.rows();
  }

  private finish(): void {
    this.meter?.finish();
    this.guard(() => this.records?.finish());
    if (this.recordsError !== undefined) throw this.recordsError;
  }

  /** A write error ends neither the run nor the measurement. */
  private guard(action: () => void): void {
    if (this.recordsError !== undefined) return;
    try {
      action();
    } catch (error) {
      this.recordsError = error;
      this.records?.discard();
    }
  }
}

/** Data to start a scenario's thread. */
export interface TokenThreadData {
  readonly plan: TokensPlan;
  /** Secrets to mask in failures, which quote the server. */
  readonly secrets: readonly string[];
}

/** Entry point of a scenario's thread: loads the tokenizer and measures until the thread ends. */
export function serveTokenMeter(port: MessagePort, { plan, secrets }: TokenThreadData): void {
  for (const secret of secrets) registerSecret(secret);
  const { tokenizer: name, revision } = plan;
  const opening = name === "none" ? Promise.resolve(undefined) : loadTokenizer(name, { revision });
  const desk = opening.then(
    (tokenizer) => new MeterDesk({ countTokens: tokenizer && ((text) => tokenizer.count(text)) }),
  );
  desk.catch(() => {});
  serveCalls(port, async (task: TokenTask) => (await desk).handle(task), ERROR_FORM);
}

/** The caller's side: a run adds answers here and gets the token metrics of its levels. */
export class TokenLink {
  /** Receives each finished request of the load. */
  readonly answers: AnswerPacker;
  private readonly calls: WorkerCalls<SentError>;

  /** @param calls calls to the thread of the meter */
  constructor(calls: WorkerCalls<SentError>) {
    this.calls = calls;
    this.answers = new AnswerPacker((packed) => {
      const task: TokenTask = { kind: "answers", packed };
      calls.post(task, [packed.numbers.buffer, packed.bytes.buffer]);
    });
  }

  /** Begins a run. @param startNs the start on this thread's monotonic clock */
  begin({ measurement, outputs, target }: Plan, startNs: number): void {
    this.answers.forgetPrompts();
    const run: MeteredRun = {
      plan: measurement.tokens as TokensPlan,
      recordsFile: outputs.files.records ?? "",
      model: "model" in target ? target.model : "",
      originEpochNs: toEpochNs(0),
      startEpochNs: toEpochNs(startNs),
    };
    this.post({ kind: "begin", run });
  }

  /** The following requests are warm-up requests. */
  warmUp(): void {
    this.post({ kind: "warm-up" });
  }

  /** Starts a level: forgets all measurements. */
  reset(): void {
    this.post({ kind: "reset" });
  }

  /** Ends a window. */
  cut(): void {
    this.post({ kind: "cut" });
  }

  /** Starts another window. */
  resume(): void {
    this.post({ kind: "resume" });
  }

  /** Ends the level. Waits until all answers are measured, and returns the last windows, or all if the plan says so, as one. */
  async merge(windowCount: number): Promise<TokenColumns> {
    const columns = new TokenColumns();
    columns.addRows(await this.call<TokenRows>({ kind: "merge", windowCount } satisfies TokenTask));
    return columns;
  }

  /** Renames the file of single requests into place. @throws RunError when it cannot be written */
  finish(): Promise<void> {
    return this.call({ kind: "finish" } satisfies TokenTask);
  }

  /** Deletes the unfinished file of single requests. */
  discard(): void {
    this.post({ kind: "discard" });
  }

  private post(task: TokenTask): void {
    this.answers.flush();
    this.calls.post(task);
  }

  /** Sends a task, which may be one that only this thread knows. Resolves with the reply. @throws RunError when the thread fails */
  call<R>(task: object): Promise<R> {
    this.answers.flush();
    return this.calls.call<R>(task).catch((error: unknown) => {
      throw error instanceof WorkerError ? failed(`failed: ${error.message}`) : error;
    });
  }
}

function failed(what: string): RunError {
  return new RunError("internal", `the thread that counts tokens ${what}`, "Report this.");
}

/** A thread that measures the tokens of answers. */
export interface TokenThread {
  readonly link: TokenLink;
  close(): Promise<void>;
}

/**
 * Waits until the thread of a meter has its tokenizer. Rejects like `loadTokenizer`, and with `WorkerError` when the thread fails; the
 * thread is then ended.
 */
export async function openTokenThread(port: CallPort, end: () => Promise<unknown>): Promise<TokenThread> {
  const calls = new WorkerCalls(port, ERROR_FORM);
  const close = async (): Promise<void> => {
    calls.fail(failed("was closed"));
    await end();
  };
  try {
    await calls.call({ kind: "open" } satisfies TokenTask);
    return { link: new TokenLink(calls), close };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Starts the thread, which loads the tokenizer. Rejects like `loadTokenizer`, and with `RunError` when no thread can be started. */
export async function startTokenThread(plan: TokensPlan): Promise<TokenThread> {
  const data: TokenThreadData = { plan, secrets: registeredSecrets() };
  const worker = startWorker({ role: "measure-tokens", data });
  return openTokenThread(worker, () => worker.terminate()).catch((error: unknown) => {
    throw error instanceof WorkerError ? failed(`could not be started: ${error.message}`) : error;
  });
}
