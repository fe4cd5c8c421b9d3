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
import { EndMarks } from "./end-marks.ts";
import type { MeasuredSink } from "./measured-request.ts";
import { AnswerPacker, type PackedAnswers } from "./packed-answers.ts";
import { type RequestTokens, RequestTokensLog, readTaken, type TakenTokens } from "./request-tokens.ts";
import type { BeginOptions, LevelTokens, RunTokens } from "./run-tokens.ts";
import { TokenColumns, type TokenRows } from "./token-columns.ts";
import { TokenGaps } from "./token-gaps.ts";
import { type MeterRules, TokenMeter } from "./token-meter.ts";

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
  /** Number of groups of requests, each measured apart. Default: 1. */
  readonly groupCount?: number | undefined;
  /** Whether the tokens of single requests can be taken. Default: false. */
  readonly keepsRequests?: boolean | undefined;
}

/** A task for a meter. */
export type TokenTask =
  /** The reply arrives when the tokenizer is loaded. */
  | { readonly kind: "open" }
  | { readonly kind: "begin"; readonly run: MeteredRun }
  | { readonly kind: "answers"; readonly packed: PackedAnswers; readonly group?: number }
  | { readonly kind: "warm-up" | "reset" | "cut" | "resume" | "discard" }
  /** The reply is `TokenRows`, by group. */
  | { readonly kind: "merge"; readonly windowCount: number }
  /** The reply is `TokenRows`, by group. */
  | { readonly kind: "take-recent"; readonly tap: number }
  /** The reply is `TakenTokens`. */
  | { readonly kind: "take"; readonly isLast: boolean }
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
  /** By group. */
  private meters: TokenMeter[] = [];
  private gaps: TokenGaps | undefined;
  private log: RequestTokensLog | undefined;
  private records: RequestFile | undefined;
  private recordsError: unknown;

  constructor(help: MeterHelp) {
    this.help = help;
  }

  /** Returns the reply. @throws RunError at the end, when the file of single requests could not be written */
  handle(task: Extract<TokenTask, { kind: "merge" }>): TokenRows[];
  handle(task: TokenTask): TokenRows[] | TakenTokens | undefined;
  handle(task: TokenTask): TokenRows[] | TakenTokens | undefined {
    const { meters } = this;
    if (task.kind === "begin") this.begin(task.run);
    else if (task.kind === "answers") meters[task.group ?? 0]?.addPacked(task.packed);
    else if (task.kind === "warm-up") for (const meter of meters) meter.warmUp();
    else if (task.kind === "reset") for (const meter of meters) meter.reset();
    else if (task.kind === "cut") for (const meter of meters) meter.cut();
    else if (task.kind === "resume") for (const meter of meters) meter.resume();
    else if (task.kind === "merge") return this.merge(task.windowCount);
    else if (task.kind === "take-recent") return meters.map((meter) => meter.takeRecent(task.tap).rows());
    else if (task.kind === "take") return this.log?.take(task.isLast);
    else if (task.kind === "finish") this.finish();
    else if (task.kind === "discard") this.records?.discard();
    return undefined;
  }

  private begin(run: MeteredRun): void {
    const { answers, field, isStreamed, isLengthAsked, keepsAllWindows, wantsGaps } = run.plan;
    const { countTokens, countPayload, openRecords } = this.help;
    this.gaps = wantsGaps === true ? new TokenGaps() : undefined;
    this.log = run.keepsRequests === true ? new RequestTokensLog() : undefined;
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
    const rules: MeterRules = {
      kind: answers as AnswerKind,
      field: field === undefined ? undefined : parseResponseField(field),
      wantsStreams: isStreamed,
      isLengthAsked,
      keepsAllWindows,
      readsModels: this.records !== undefined,
      countTokens,
      countPayload,
      endMarks: new EndMarks(),
      log: this.log,
      sink: this.records === undefined && this.gaps === undefined ? undefined : sink,
    };
    this.meters = Array.from({ length: run.groupCount ?? 1 }, () => new TokenMeter(rules));
  }

  private merge(windowCount: number): TokenRows[] {
    return this.meters.map((meter) => {
      const merged = meter.merge(windowCount);
      merged.gaps = this.gaps?.summarize();
      return merged.rows();
    });
  }

  private finish(): void {
    for (const meter of this.meters) meter.finish();
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
export class TokenLink implements RunTokens {
  /** Receives each finished request of the load. */
  readonly answers: AnswerPacker;
  private readonly calls: WorkerCalls<SentError>;
  /** By group of requests. */
  private readonly packers: AnswerPacker[] = [];

  /** @param calls calls to the thread of the meter */
  constructor(calls: WorkerCalls<SentError>) {
    this.calls = calls;
    this.answers = this.answersOf(0);
  }

  /** Returns what receives the finished requests of a group, from 0. */
  answersOf(group: number): AnswerPacker {
    while (this.packers.length <= group) this.packers.push(this.createPacker(this.packers.length));
    return this.packers[group] as AnswerPacker;
  }

  /** Begins a run. @param startNs the start on this thread's monotonic clock @param groupCount number of groups, each measured apart */
  begin(
    { measurement, outputs, target }: Plan,
    startNs: number,
    { keepsRequests = false }: BeginOptions = {},
    groupCount = 1,
  ): void {
    for (const packer of this.packers) packer.forgetPrompts();
    const run: MeteredRun = {
      plan: measurement.tokens as TokensPlan,
      recordsFile: outputs.files.records ?? "",
      model: "model" in target ? target.model : "",
      originEpochNs: toEpochNs(0),
      startEpochNs: toEpochNs(startNs),
      ...(groupCount === 1 ? {} : { groupCount }),
      ...(keepsRequests ? { keepsRequests } : {}),
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
    return (await this.mergeGroups(windowCount))[0] as TokenColumns;
  }

  async mergeLevel(windowCount: number): Promise<LevelTokens> {
    return { tokens: await this.merge(windowCount) };
  }

  async takeRequests(isLast: boolean): Promise<readonly RequestTokens[]> {
    const taken = await this.call<TakenTokens | undefined>({ kind: "take", isLast } satisfies TokenTask);
    return taken === undefined ? [] : readTaken(taken);
  }

  /** Like `merge`, by group. */
  mergeGroups(windowCount: number): Promise<TokenColumns[]> {
    return this.callForGroups({ kind: "merge", windowCount });
  }

  async takeRecent(tap: number): Promise<LevelTokens> {
    return { tokens: (await this.takeRecentGroups(tap))[0] as TokenColumns };
  }

  /** Like `takeRecent`, by group. */
  takeRecentGroups(tap: number): Promise<TokenColumns[]> {
    return this.callForGroups({ kind: "take-recent", tap });
  }

  private async callForGroups(task: TokenTask): Promise<TokenColumns[]> {
    const groups = await this.call<TokenRows[]>(task);
    return groups.map((rows) => {
      const columns = new TokenColumns();
      columns.addRows(rows);
      return columns;
    });
  }

  /** Renames the file of single requests into place. @throws RunError when it cannot be written */
  finish(): Promise<void> {
    return this.call({ kind: "finish" } satisfies TokenTask);
  }

  /** Deletes the unfinished file of single requests. */
  discard(): void {
    this.post({ kind: "discard" });
  }

  private createPacker(group: number): AnswerPacker {
    return new AnswerPacker((packed) => {
      const task: TokenTask = { kind: "answers", packed, ...(group === 0 ? {} : { group }) };
      this.calls.post(task, [packed.numbers.buffer, packed.bytes.buffer]);
    });
  }

  private flush(): void {
    for (const packer of this.packers) packer.flush();
  }

  private post(task: TokenTask): void {
    this.flush();
    this.calls.post(task);
  }

  /** Sends a task, which may be one that only this thread knows. Resolves with the reply. @throws RunError when the thread fails */
  call<R>(task: object): Promise<R> {
    this.flush();
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
