import type { MessagePort, Worker } from "node:worker_threads";
import type { Plan } from "../../plan/plan.ts";
import { messageOf, RunError } from "../../plan/problem.ts";
import { registeredSecrets, registerSecret } from "../../plan/secrets.ts";
import { receiveError, type SentError, sendError } from "../../plan/sent-error.ts";
import type { TokensPlan } from "../../plan/tokens.ts";
import { toEpochNs } from "../../runtime/clock.ts";
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

/** Measures the tokens of answers in a thread of its own: the one that times them only packs their bytes. */

/** What a meter is told when a run begins. */
export interface MeteredRun {
  readonly plan: TokensPlan;
  /** Where single requests are written; empty where nobody wants them. */
  readonly recordsFile: string;
  /** For requests that name no model. */
  readonly model: string;
  /** The moment 0 of the caller's monotonic clock, in nanoseconds since the epoch. */
  readonly originEpochNs: bigint;
  /** When the run began, in nanoseconds since the epoch. */
  readonly startEpochNs: bigint;
}

type TokenTask =
  | { readonly kind: "begin"; readonly run: MeteredRun }
  | { readonly kind: "answers"; readonly packed: PackedAnswers }
  | { readonly kind: "warm-up" | "reset" | "cut" | "resume" | "finish" | "discard" }
  | { readonly kind: "merge"; readonly windowCount: number };

type TokenReply =
  | { readonly kind: "ready" }
  | { readonly kind: "merged"; readonly rows: TokenRows }
  | { readonly kind: "finished"; readonly error: SentError | undefined }
  | { readonly kind: "failed"; readonly error: SentError };

/** A file of single requests that is being written. */
export interface RequestFile extends MeasuredSink {
  finish(): void;
  discard(): void;
}

/** What a meter may use besides the answers. */
export interface MeterHelp {
  readonly countTokens: TokenCounter | undefined;
  /** Tokens of a body that was made here. */
  countPayload?(payload: string): number;
  /** Opens the file of single requests. @throws RunError when it cannot be written */
  openRecords?(run: MeteredRun): RequestFile;
}

/** A port between the two threads. */
export type MeterPort = MessagePort | Worker;

function listen<T>(port: MeterPort, listener: (message: T) => void): void {
  if ("threadId" in port) port.on("message", listener);
  else port.on("message", listener);
}

/** The thread's side: measures what the port brings, and answers there. */
export function serveMeter(port: MeterPort, help: MeterHelp): void {
  const desk = new MeterDesk(help);
  listen(port, (task: TokenTask) => {
    let reply: TokenReply | undefined;
    try {
      reply = desk.handle(task);
    } catch (error) {
      reply = { kind: "failed", error: sendError(error) };
    }
    if (reply !== undefined) port.postMessage(reply);
  });
}

class MeterDesk {
  private readonly help: MeterHelp;
  private meter: TokenMeter | undefined;
  private gaps: TokenGaps | undefined;
  private records: RequestFile | undefined;
  private recordsError: unknown;

  constructor(help: MeterHelp) {
    this.help = help;
  }

  handle(task: TokenTask): TokenReply | undefined {
    const { meter } = this;
    if (task.kind === "begin") this.begin(task.run);
    else if (task.kind === "answers") meter?.addPacked(task.packed);
    else if (task.kind === "warm-up") meter?.warmUp();
    else if (task.kind === "reset") meter?.reset();
    else if (task.kind === "cut") meter?.cut();
    else if (task.kind === "resume") meter?.resume();
    else if (task.kind === "merge") return { kind: "merged", rows: this.merge(task.windowCount) };
    else if (task.kind === "finish") return this.finish();
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

  private finish(): TokenReply {
    this.meter?.finish();
    this.guard(() => this.records?.finish());
    return { kind: "finished", error: this.recordsError === undefined ? undefined : sendError(this.recordsError) };
  }

  /** A file that cannot be written costs neither the run nor its numbers. */
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

/** What the thread of a scenario is started with. */
export interface TokenThreadData {
  readonly plan: TokensPlan;
  /** Failures are explained in the server's words, which may hold them. */
  readonly secrets: readonly string[];
}

/** The thread of a scenario: loads the tokenizer, says so, and measures until it is ended. */
export async function serveTokenMeter(port: MessagePort, { plan, secrets }: TokenThreadData): Promise<void> {
  for (const secret of secrets) registerSecret(secret);
  try {
    const { tokenizer: name, revision } = plan;
    const tokenizer = name === "none" ? undefined : await loadTokenizer(name, { revision });
    serveMeter(port, { countTokens: tokenizer && ((text) => tokenizer.count(text)) });
    port.postMessage({ kind: "ready" } satisfies TokenReply);
  } catch (error) {
    port.postMessage({ kind: "failed", error: sendError(error) } satisfies TokenReply);
  }
}

/** The caller's side: where a run puts answers, and gets its levels' tokens from. */
export class TokenLink {
  /** Takes each finished request of the load. */
  readonly answers: AnswerPacker;
  private readonly port: MeterPort;
  private readonly waiting: PromiseWithResolvers<TokenReply>[] = [];
  private end: Error | undefined;

  /** @param port to a thread that serves a meter */
  constructor(port: MeterPort) {
    this.port = port;
    this.answers = new AnswerPacker((packed) => {
      const task: TokenTask = { kind: "answers", packed };
      port.postMessage(task, [packed.numbers.buffer, packed.bytes.buffer]);
    });
    listen(port, (reply: TokenReply) => {
      if (reply.kind === "failed") this.fail(receiveError(reply.error));
      else if (reply.kind === "merged" || reply.kind === "finished") this.waiting.shift()?.resolve(reply);
    });
  }

  /** A run begins. @param startNs when, on this thread's monotonic clock */
  begin({ measurement, outputs, target }: Plan, startNs: number): void {
    this.answers.forgetPrompts();
    const run: MeteredRun = {
      plan: measurement.tokens as TokensPlan,
      recordsFile: outputs.recordsFile ?? "",
      model: target.kind === "embedded" ? "" : target.model,
      originEpochNs: toEpochNs(0),
      startEpochNs: toEpochNs(startNs),
    };
    this.post({ kind: "begin", run });
  }

  /** Requests from now on warm up. */
  warmUp(): void {
    this.post({ kind: "warm-up" });
  }

  /** Forgets what was measured so far: a level begins. */
  reset(): void {
    this.post({ kind: "reset" });
  }

  /** Ends a window. */
  cut(): void {
    this.post({ kind: "cut" });
  }

  /** Another window follows. */
  resume(): void {
    this.post({ kind: "resume" });
  }

  /** The last windows as one, or all where the plan says so, when all of their answers have been measured. */
  async merge(windowCount: number): Promise<TokenColumns> {
    const reply = await this.call({ kind: "merge", windowCount });
    const columns = new TokenColumns();
    if (reply.kind === "merged") columns.addRows(reply.rows);
    return columns;
  }

  /** Puts the file of single requests in its place. @throws RunError when it cannot be written */
  async finish(): Promise<void> {
    const reply = await this.call({ kind: "finish" });
    if (reply.kind === "finished" && reply.error !== undefined) throw receiveError(reply.error);
  }

  /** Leaves no file of single requests. */
  discard(): void {
    this.post({ kind: "discard" });
  }

  /** Everything that waits rejects, now and later. */
  fail(error: Error): void {
    this.end ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(this.end);
  }

  private post(task: TokenTask): void {
    this.answers.flush();
    this.port.postMessage(task);
  }

  private call(task: TokenTask): Promise<TokenReply> {
    if (this.end !== undefined) return Promise.reject(this.end);
    const waiting = Promise.withResolvers<TokenReply>();
    this.waiting.push(waiting);
    this.post(task);
    return waiting.promise;
  }
}

/** A thread that measures the tokens of one run. */
export interface TokenThread {
  readonly link: TokenLink;
  close(): Promise<void>;
}

/** Starts the thread, which loads the tokenizer. Rejects as `loadTokenizer` does, and with `RunError` where no thread can be started. */
export async function startTokenThread(plan: TokensPlan): Promise<TokenThread> {
  const data: TokenThreadData = { plan, secrets: registeredSecrets() };
  const worker = startWorker({ role: "measure-tokens", data });
  try {
    await firstReply(worker);
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  const link = new TokenLink(worker);
  const fail = (reason: string): void => link.fail(new RunError("internal", reason, "Report this."));
  worker.on("error", (error) => fail(messageOf(error)));
  worker.on("exit", () => fail("the thread that counts tokens ended"));
  return {
    link,
    close: async () => {
      fail("the thread that counts tokens was closed");
      await worker.terminate();
    },
  };
}

function firstReply(worker: Worker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  worker.once("message", (reply: TokenReply) => {
    if (reply.kind === "failed") reject(receiveError(reply.error));
    else resolve();
  });
  const fail = (reason: string): void => {
    const message = `the thread that counts tokens could not be started: ${reason}`;
    reject(new RunError("internal", message, "Report this."));
  };
  worker.once("error", (error) => fail(messageOf(error)));
  worker.once("exit", () => fail("it ended at once"));
  return promise;
}
