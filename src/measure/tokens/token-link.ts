import { fieldOf } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { registeredSecrets } from "../../plan/secrets.ts";
import { ERROR_FORM, type SentError } from "../../plan/sent-error.ts";
import type { TokensPlan } from "../../plan/tokens.ts";
import { toEpochNs } from "../../runtime/clock.ts";
import { type CallPort, WorkerCalls, WorkerError } from "../../runtime/worker-calls.ts";
import { startWorker } from "../../runtime/workers.ts";
import { ResponsePacker } from "./packed-responses.ts";
import { type RequestTokens, readTaken, type TakenTokens } from "./request-tokens.ts";
import type { BeginOptions, LevelTokens, RunTokens } from "./run-tokens.ts";
import { TaskLine } from "./task-line.ts";
import { TokenColumns, type TokenRows } from "./token-columns.ts";
import type { MeteredTokens } from "./token-meter.ts";
import type { Span } from "./token-tally.ts";
import type { MeteredRun, SentTokens, TokenTask, TokenThreadData } from "./token-thread.ts";
import type { TotalledTokens } from "./token-totals.ts";

/** Measures the tokens of responses in a separate thread. The thread that times the responses only packs their bytes. */

/** The caller's side: a run adds responses and gets the token metrics of its levels. */
export class TokenLink implements RunTokens {
  readonly responses: ResponsePacker;
  private readonly line: TaskLine;
  private readonly packers: ResponsePacker[] = [];
  /** Settles with the totals requested last. Never rejects. */
  lastTotals: Promise<unknown> = Promise.resolve();

  /** @param calls calls to the thread of the meter */
  constructor(calls: Pick<WorkerCalls<SentError>, "call" | "fail">) {
    this.line = new TaskLine(calls);
    this.responses = this.responsesOf(0);
  }

  /** Returns the receiver of a group's finished requests. @param group from 0 */
  responsesOf(group: number): ResponsePacker {
    while (this.packers.length <= group) this.packers.push(this.createPacker(this.packers.length));
    return this.packers[group] as ResponsePacker;
  }

  /**
   * Begins a run. @param startNs the start on this thread's monotonic clock @param groupCount number of groups, which are
   * measured separately
   */
  begin(
    { measurement, outputs, target }: Plan,
    startNs: number,
    { keepsRequests = false, keepsRows = false, goodputs = [], delayNs }: BeginOptions = {},
    groupCount = 1,
  ): void {
    for (const packer of this.packers) packer.forgetPrompts();
    const run: MeteredRun = {
      plan: measurement.tokens as TokensPlan,
      recordsFile: outputs.files.records ?? "",
      model: fieldOf(target, "model") ?? "",
      originEpochNs: toEpochNs(0, delayNs),
      startEpochNs: toEpochNs(startNs, delayNs),
      goodputs,
      keepsRows: keepsRows || measurement.tokens?.keepsAllWindows === true,
      ...(groupCount === 1 ? {} : { groupCount }),
      ...(keepsRequests ? { keepsRequests } : {}),
    };
    this.post({ kind: "begin", run });
  }

  warmUp(): void {
    this.post({ kind: "warm-up" });
  }

  reset(): void {
    this.post({ kind: "reset" });
  }

  cut(span: Span): void {
    this.post({ kind: "cut", span });
  }

  resume(): void {
    this.post({ kind: "resume" });
  }

  async mergeLevel(windowCount: number): Promise<LevelTokens> {
    return (await this.mergeGroups(windowCount))[0] as MeteredTokens;
  }

  async takeRequests(isLast: boolean): Promise<readonly RequestTokens[]> {
    const taken = await this.call<TakenTokens | undefined>({ kind: "take", isLast } satisfies TokenTask);
    return taken === undefined ? [] : readTaken(taken);
  }

  /** Like `merge`, by group. */
  mergeGroups(windowCount: number): Promise<MeteredTokens[]> {
    return this.callForGroups({ kind: "merge", windowCount });
  }

  async takeRecent(tap: number): Promise<LevelTokens> {
    return (await this.takeRecentGroups(tap))[0] as MeteredTokens;
  }

  readTotals(): Promise<TotalledTokens> {
    const totals = this.call<TotalledTokens>({ kind: "read-totals" } satisfies TokenTask);
    this.lastTotals = totals.catch(() => {});
    return totals;
  }

  /** Like `takeRecent`, by group. */
  takeRecentGroups(tap: number): Promise<MeteredTokens[]> {
    return this.callForGroups({ kind: "take-recent", tap });
  }

  private async callForGroups(task: TokenTask): Promise<MeteredTokens[]> {
    const groups = await this.call<SentTokens[]>(task);
    return Promise.all(
      groups.map(async ({ tokens, rows }) =>
        rows === undefined ? { tokens } : { tokens, tokenRows: await this.takeRows(rows) },
      ),
    );
  }

  private async takeRows({ id, count }: Required<SentTokens>["rows"]): Promise<TokenColumns> {
    const columns = new TokenColumns();
    do {
      columns.addRows(await this.call<TokenRows>({ kind: "take-rows", id, first: columns.count } satisfies TokenTask));
    } while (columns.count < count);
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

  private createPacker(group: number): ResponsePacker {
    return new ResponsePacker((packed) => {
      this.line.pack({ kind: "packed", packed, ...(group === 0 ? {} : { group }) });
    });
  }

  private flush(): void {
    for (const packer of this.packers) packer.flush();
  }

  private post(task: TokenTask): void {
    this.flush();
    this.line.post(task);
  }

  /** Sends a task, including tasks that only this thread knows. Resolves with the reply. @throws RunError when the thread fails */
  call<R>(task: object): Promise<R> {
    this.flush();
    return this.line.call<R>(task).catch((error: unknown) => {
      throw error instanceof WorkerError ? failed(`failed: ${error.message}`) : error;
    });
  }
}

function failed(what: string): RunError {
  return new RunError("internal", `the thread that counts tokens ${what}`, "Report this.");
}

/** A thread that measures the tokens of responses. */
export interface TokenThread {
  readonly link: TokenLink;
  close(): Promise<void>;
}

/**
 * Waits until a meter's thread has loaded its tokenizer. Rejects like `loadTokenizer`, and with `WorkerError` when the thread
 * fails; the thread is then ended.
 * @param stop ends the thread during the wait
 */
export async function openTokenThread(
  port: CallPort,
  end: () => Promise<unknown>,
  stop?: AbortSignal,
): Promise<TokenThread> {
  const calls = new WorkerCalls(port, ERROR_FORM);
  const close = async (): Promise<void> => {
    calls.fail(failed("was closed"));
    await end();
  };
  const onStop = (): void => calls.fail(failed("was closed"));
  stop?.addEventListener("abort", onStop);
  try {
    await calls.call({ kind: "open" } satisfies TokenTask);
    return { link: new TokenLink(calls), close };
  } catch (error) {
    await end();
    throw error;
  } finally {
    stop?.removeEventListener("abort", onStop);
  }
}

/**
 * Starts the thread, which loads the tokenizer. Rejects like `loadTokenizer`, and with `RunError` when no thread can be
 * started.
 * @param stop ends the thread while it loads
 */
export async function startTokenThread(
  { tokenizer, revision }: TokenThreadData["plan"],
  stop?: AbortSignal,
): Promise<TokenThread> {
  const data: TokenThreadData = { plan: { tokenizer, revision }, secrets: registeredSecrets() };
  const worker = startWorker({ role: "measure-tokens", data });
  return openTokenThread(worker, () => worker.terminate(), stop).catch((error: unknown) => {
    throw error instanceof WorkerError ? failed(`could not be started: ${error.message}`) : error;
  });
}

/** Threads that were started to check whether a tokenizer can be loaded. The first run that needs one takes it. */
export class SpareThreads {
  /** Threads by tokenizer and revision. */
  private readonly threads = new Map<string, TokenThread>();
  private stopping = new AbortController();

  /** Starts a thread. Rejects like {@link startTokenThread}. */
  async start(plan: TokenThreadData["plan"]): Promise<void> {
    if (this.threads.has(keyOf(plan))) return;
    this.threads.set(keyOf(plan), await startTokenThread(plan, this.stopping.signal));
  }

  /** Returns the thread that was started, once. Otherwise starts one. */
  async take(plan: TokenThreadData["plan"]): Promise<TokenThread> {
    const thread = this.threads.get(keyOf(plan));
    this.threads.delete(keyOf(plan));
    return thread ?? startTokenThread(plan, this.stopping.signal);
  }

  /** Ends the threads that no run has taken, and those that are still loading their tokenizer. */
  async close(): Promise<void> {
    this.stopping.abort();
    this.stopping = new AbortController();
    const left = [...this.threads.values()];
    this.threads.clear();
    await Promise.all(left.map((thread) => thread.close()));
  }
}

function keyOf({ tokenizer, revision }: TokenThreadData["plan"]): string {
  return JSON.stringify([tokenizer, revision]);
}
