import type { MessagePort, Worker } from "node:worker_threads";
import { messageOf, RunError } from "../../plan/problem.ts";
import { registeredSecrets, registerSecret } from "../../plan/secrets.ts";
import { receiveError, type SentError, sendError } from "../../plan/sent-error.ts";
import type { TokensPlan } from "../../plan/tokens.ts";
import { startWorker } from "../../runtime/workers.ts";
import type { AnswerKind } from "../../service/openai/answer-kind.ts";
import { loadTokenizer } from "../../tokenize/load-tokenizer.ts";
import { AnswerPacker, type PackedAnswers } from "./packed-answers.ts";
import { TokenMeter } from "./token-meter.ts";
import { TokenColumns, type TokenRows } from "./token-metrics.ts";

/** Measures the tokens of answers in a thread of its own: the one that times them only packs their bytes. */

type TokenTask =
  | { readonly kind: "answers"; readonly packed: PackedAnswers }
  | { readonly kind: "reset" }
  | { readonly kind: "cut" }
  | { readonly kind: "merge"; readonly windowCount: number };

type TokenReply =
  | { readonly kind: "ready" }
  | { readonly kind: "merged"; readonly rows: TokenRows }
  | { readonly kind: "failed"; readonly error: SentError };

/** What the thread is started with. */
export interface TokenThreadData {
  readonly plan: TokensPlan;
  /** Answers that are no answers are explained by their own words. */
  readonly secrets: readonly string[];
}

/** The thread's side: loads the tokenizer, says so, and measures until it is ended. */
export async function serveTokenMeter(port: MessagePort, { plan, secrets }: TokenThreadData): Promise<void> {
  for (const secret of secrets) registerSecret(secret);
  const say = (reply: TokenReply): void => port.postMessage(reply);
  try {
    const meter = await createMeter(plan);
    port.on("message", (task: TokenTask) => {
      try {
        if (task.kind === "answers") meter.add(task.packed);
        else if (task.kind === "reset") meter.reset();
        else if (task.kind === "cut") meter.cut();
        else say({ kind: "merged", rows: meter.merge(task.windowCount).rows() });
      } catch (error) {
        say({ kind: "failed", error: sendError(error) });
      }
    });
    say({ kind: "ready" });
  } catch (error) {
    say({ kind: "failed", error: sendError(error) });
  }
}

async function createMeter(plan: TokensPlan): Promise<TokenMeter> {
  const { answers, isStreamed, tokenizer: name, revision, isLengthAsked = false } = plan;
  const asked = { wantsStreams: isStreamed, isLengthAsked };
  if (name === "none") return new TokenMeter(answers as AnswerKind, undefined, asked);
  const tokenizer = await loadTokenizer(name, { revision });
  return new TokenMeter(answers as AnswerKind, (text) => tokenizer.count(text), asked);
}

/** Where the run puts answers, and gets its levels' tokens from. */
export class TokenThread {
  /** Takes each finished request of the load. */
  readonly answers: AnswerPacker;
  private readonly worker: Worker;
  private readonly waiting: PromiseWithResolvers<TokenColumns>[] = [];
  private end: Error | undefined;

  private constructor(worker: Worker) {
    this.worker = worker;
    this.answers = new AnswerPacker((packed) => {
      const task: TokenTask = { kind: "answers", packed };
      worker.postMessage(task, [packed.numbers.buffer, packed.bytes.buffer]);
    });
    worker.on("message", (reply: TokenReply) => this.receive(reply));
    worker.on("error", (error) => this.fail(new RunError("internal", messageOf(error), "Report this.")));
    worker.on("exit", () => this.fail(new RunError("internal", "the thread that counts tokens ended", "Report this.")));
  }

  /** Starts the thread, which loads the tokenizer. Rejects as `loadTokenizer` does, and with `RunError` where no thread can be started. */
  static async start(plan: TokensPlan): Promise<TokenThread> {
    const worker = startWorker({
      role: "measure-tokens",
      data: { plan, secrets: registeredSecrets() } satisfies TokenThreadData,
    });
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
    try {
      await promise;
      return new TokenThread(worker);
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  /** Forgets what was measured so far: a level begins. */
  reset(): void {
    this.answers.flush();
    this.worker.postMessage({ kind: "reset" } satisfies TokenTask);
  }

  /** Ends a window. */
  cut(): void {
    this.answers.flush();
    this.worker.postMessage({ kind: "cut" } satisfies TokenTask);
  }

  /** The last windows as one, when all of their answers have been measured. */
  merge(windowCount: number): Promise<TokenColumns> {
    if (this.end !== undefined) return Promise.reject(this.end);
    const waiting = Promise.withResolvers<TokenColumns>();
    this.waiting.push(waiting);
    this.worker.postMessage({ kind: "merge", windowCount } satisfies TokenTask);
    return waiting.promise;
  }

  async close(): Promise<void> {
    this.fail(new RunError("internal", "the thread that counts tokens was closed", "Report this."));
    await this.worker.terminate();
  }

  private receive(reply: TokenReply): void {
    if (reply.kind === "failed") this.fail(receiveError(reply.error));
    else if (reply.kind === "merged") {
      const columns = new TokenColumns();
      columns.addRows(reply.rows);
      this.waiting.shift()?.resolve(columns);
    }
  }

  private fail(error: Error): void {
    this.end ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(this.end);
  }
}
