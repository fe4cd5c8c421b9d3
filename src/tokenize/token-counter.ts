import type { Worker } from "node:worker_threads";
import { messageOf, type Problem, RunError, type RunErrorKind, UserError } from "../plan/problem.ts";
import { startWorker } from "../runtime/workers.ts";
import { loadTokenizer, type TokenizerOptions } from "./load-tokenizer.ts";

/** Counts tokens in a thread of its own, so that the thread which times responses never does. */
export interface TokenCounter {
  /** Why the counting is done in the caller's thread after all; undefined when it is not. */
  readonly fallbackNote: string | undefined;
  /** How many tokens each text has, in the order of the texts. */
  countAll(texts: readonly string[]): Promise<number[]>;
  /** Ends the thread; what is still being counted is rejected. */
  close(): Promise<void>;
}

/** What the thread is given. */
export interface CounterTask {
  readonly name: string;
  readonly options: TokenizerOptions;
}

/** What is asked of the thread. */
export interface CountRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

/** An error on its way between threads. */
export type SentError =
  | { readonly kind: "user"; readonly problems: readonly Problem[] }
  | { readonly kind: "run"; readonly run: RunErrorKind; readonly message: string; readonly hint: string }
  | { readonly kind: "other"; readonly message: string };

/** What the thread says. */
export type CounterMessage =
  | { readonly kind: "loaded" }
  | { readonly kind: "failed"; readonly error: SentError }
  | { readonly kind: "counted"; readonly id: number; readonly counts: number[] }
  | { readonly kind: "not-counted"; readonly id: number; readonly error: SentError };

/**
 * Starts the thread, which loads the tokenizer. Rejects as `loadTokenizer` does. Where no thread can be started the caller's counts, and
 * `fallbackNote` says so.
 * @param start how to start the thread
 */
export async function startTokenCounter(
  name: string,
  options: TokenizerOptions = {},
  start: (task: CounterTask) => Worker = (task) => startWorker({ role: "count-tokens", data: task }),
): Promise<TokenCounter> {
  let worker: Worker;
  try {
    worker = start({ name, options });
  } catch (error) {
    return createLocalCounter(name, options, messageOf(error));
  }
  try {
    await waitUntilLoaded(worker);
  } catch (error) {
    await worker.terminate();
    if (error instanceof ThreadError) return createLocalCounter(name, options, error.message);
    throw error;
  }
  return new ThreadCounter(worker);
}

/** The thread itself failed, not what it was asked to do. */
class ThreadError extends Error {}

function waitUntilLoaded(worker: Worker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  worker.once("message", (message: CounterMessage) => {
    if (message.kind === "failed") reject(receiveError(message.error));
    else resolve();
  });
  worker.once("error", (error) => reject(new ThreadError(messageOf(error))));
  worker.once("exit", () => reject(new ThreadError("it ended at once")));
  return promise;
}

async function createLocalCounter(name: string, options: TokenizerOptions, reason: string): Promise<TokenCounter> {
  const tokenizer = await loadTokenizer(name, options);
  return {
    fallbackNote: `tokens are counted in the thread that times responses: no other could be started (${reason})`,
    countAll: async (texts) => texts.map((text) => tokenizer.count(text)),
    close: async () => {},
  };
}

interface Waiting {
  resolve(counts: number[]): void;
  reject(error: Error): void;
}

class ThreadCounter implements TokenCounter {
  readonly fallbackNote: undefined;
  private readonly worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 0;
  private end: Error | undefined;

  constructor(worker: Worker) {
    this.worker = worker;
    worker.on("message", (message: CounterMessage) => this.receive(message));
    worker.on("error", (error) => this.fail(messageOf(error)));
    worker.on("exit", () => this.fail("its thread ended"));
    // An idle thread does not keep the process.
    worker.unref();
  }

  countAll(texts: readonly string[]): Promise<number[]> {
    if (this.end !== undefined) return Promise.reject(this.end);
    const { promise, resolve, reject } = Promise.withResolvers<number[]>();
    const id = this.nextId++;
    if (this.waiting.size === 0) this.worker.ref();
    this.waiting.set(id, { resolve, reject });
    this.worker.postMessage({ id, texts } satisfies CountRequest);
    return promise;
  }

  async close(): Promise<void> {
    this.fail("it was closed");
    await this.worker.terminate();
  }

  private receive(message: CounterMessage): void {
    if (message.kind !== "counted" && message.kind !== "not-counted") return;
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (this.waiting.size === 0) this.worker.unref();
    if (message.kind === "counted") waiting?.resolve(message.counts);
    else waiting?.reject(receiveError(message.error));
  }

  private fail(reason: string): void {
    this.end ??= new RunError("internal", `tokens cannot be counted: ${reason}`, "Report this.");
    for (const { reject } of this.waiting.values()) reject(this.end);
    this.waiting.clear();
  }
}

/** Makes an error ready to be sent. */
export function sendError(error: unknown): SentError {
  if (error instanceof UserError) return { kind: "user", problems: error.problems };
  if (error instanceof RunError) return { kind: "run", run: error.kind, message: error.message, hint: error.hint };
  return { kind: "other", message: messageOf(error) };
}

/** An error as it was before it was sent. */
export function receiveError(sent: SentError): Error {
  switch (sent.kind) {
    case "user":
      return new UserError(sent.problems);
    case "run":
      return new RunError(sent.run, sent.message, sent.hint);
    case "other":
      return new Error(sent.message);
  }
}
