import type { MessagePort, Worker } from "node:worker_threads";
import { TokenColumns, type TokenRows } from "../../../measure/tokens/token-metrics.ts";
import { messageOf, RunError } from "../../../plan/problem.ts";
import { registeredSecrets, registerSecret } from "../../../plan/secrets.ts";
import { receiveError, type SentError, sendError } from "../../../plan/sent-error.ts";
import { startWorker } from "../../../runtime/workers.ts";
import { formatJson, parseJson } from "../../../service/json-text.ts";
import type { GenaiSettings } from "../options/settings.ts";
import {
  LocalTokenWork,
  type MeasuredAnswers,
  type MeasureTask,
  needsTokenizer,
  openTokenizer,
  type TokenWork,
} from "./token-work.ts";
import type { WriteTask, WrittenInputs } from "./write-inputs.ts";

/** Does the work that needs a tokenizer in a thread of its own: neither its time nor its memory is in the thread that times responses. */

type Task =
  | { readonly kind: "write"; readonly settings: SentSettings; readonly task: Omit<WriteTask, "settings"> }
  | { readonly kind: "measure"; readonly settings: SentSettings; readonly task: Omit<MeasureTask, "settings"> };

/** Extra inputs are sent as text: a message would not keep how a number was written. */
export interface SentSettings {
  readonly settings: GenaiSettings;
  readonly extraJson: string;
  /** The thread writes files too. */
  readonly secrets: readonly string[];
}

function sendSettings(settings: GenaiSettings): SentSettings {
  const { extra } = settings.input;
  return {
    settings: { ...settings, input: { ...settings.input, extra: null } },
    extraJson: formatJson(extra),
    secrets: registeredSecrets(),
  };
}

function receiveSettings({ settings, extraJson, secrets }: SentSettings): GenaiSettings {
  for (const secret of secrets) registerSecret(secret);
  const extra = parseJson(extraJson) as GenaiSettings["input"]["extra"];
  return { ...settings, input: { ...settings.input, extra } };
}

type Reply =
  | { readonly kind: "ready" }
  | { readonly kind: "written"; readonly inputs: WrittenInputs }
  | { readonly kind: "measured"; readonly rows: TokenRows; readonly rest: Omit<MeasuredAnswers, "columns"> }
  | { readonly kind: "failed"; readonly error: SentError };

/** The thread's side: loads the settings' tokenizer, says so, and works until it is ended. */
export async function serveTokenWork(port: MessagePort, sent: SentSettings): Promise<void> {
  const say = (reply: Reply): void => port.postMessage(reply, buffersOf(reply));
  try {
    const work = new LocalTokenWork(await openTokenizer(receiveSettings(sent)));
    port.on("message", (task: Task) => {
      answer(work, task).then(say, (error: unknown) => say({ kind: "failed", error: sendError(error) }));
    });
    say({ kind: "ready" });
  } catch (error) {
    say({ kind: "failed", error: sendError(error) });
  }
}

async function answer(work: TokenWork, task: Task): Promise<Reply> {
  const settings = receiveSettings(task.settings);
  if (task.kind === "write") return { kind: "written", inputs: await work.write({ ...task.task, settings }) };
  const { columns, ...rest } = await work.measure({ ...task.task, settings });
  return { kind: "measured", rows: columns.rows(), rest };
}

/** Those of columns are handed over, not copied. */
function buffersOf(reply: Reply): ArrayBuffer[] {
  if (reply.kind !== "measured") return [];
  const { sendNs, sessionOf, metrics } = reply.rows;
  return [sendNs, sessionOf, ...Object.values(metrics)].map(({ buffer }) => buffer as ArrayBuffer);
}

/** The thread itself failed, not what it was asked to do. */
class ThreadError extends Error {}

class ThreadTokenWork implements TokenWork {
  private readonly worker: Worker;
  private waiting: PromiseWithResolvers<Reply> | undefined;
  private end: Error | undefined;

  constructor(worker: Worker) {
    this.worker = worker;
    worker.on("message", (reply: Reply) => {
      if (reply.kind === "failed") this.waiting?.reject(receiveError(reply.error));
      else this.waiting?.resolve(reply);
    });
    worker.on("error", (error) => this.fail(messageOf(error)));
    worker.on("exit", () => this.fail("it ended"));
  }

  /** Waits for the tokenizer. @throws ThreadError when there is no thread after all */
  async start(): Promise<void> {
    try {
      await this.next();
    } catch (error) {
      const { end } = this;
      await this.worker.terminate();
      throw end === undefined ? error : new ThreadError(end.message);
    }
  }

  async write({ settings, ...task }: WriteTask): Promise<WrittenInputs> {
    return ((await this.call({ kind: "write", settings: sendSettings(settings), task })) as Reply & { kind: "written" })
      .inputs;
  }

  async measure({ settings, ...task }: MeasureTask): Promise<MeasuredAnswers> {
    const sent = sendSettings(settings);
    const { rows, rest } = (await this.call({ kind: "measure", settings: sent, task })) as Reply & { kind: "measured" };
    const columns = new TokenColumns();
    columns.addRows(rows);
    return { ...rest, columns };
  }

  async close(): Promise<void> {
    this.fail("it was closed");
    await this.worker.terminate();
  }

  private call(task: Task): Promise<Reply> {
    if (this.end !== undefined) return Promise.reject(this.end);
    this.worker.postMessage(task);
    return this.next();
  }

  private next(): Promise<Reply> {
    this.waiting = Promise.withResolvers();
    return this.waiting.promise;
  }

  private fail(reason: string): void {
    this.end ??= new RunError("internal", `the thread that counts tokens failed: ${reason}`, "Report this.");
    this.waiting?.reject(this.end);
  }
}

/**
 * Begins the work: in a thread of its own, or in the caller's where there are no tokens to count or no thread can be started.
 * @param note told why there is no thread where there should be one
 * @param start how to start the thread
 * @throws UserError, RunError as `openTokenizer`
 */
export async function startTokenWork(
  settings: GenaiSettings,
  note: (text: string) => void,
  start: (settings: SentSettings) => Worker = (data) => startWorker({ role: "token-work", data }),
): Promise<TokenWork> {
  if (!needsTokenizer(settings)) return new LocalTokenWork(undefined);
  try {
    const work = new ThreadTokenWork(startThread(() => start(sendSettings(settings))));
    await work.start();
    return work;
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    note(`tokens are counted in the thread that times responses, before and after the run: ${error.message}`);
    return new LocalTokenWork(await openTokenizer(settings));
  }
}

function startThread(start: () => Worker): Worker {
  try {
    return start();
  } catch (error) {
    throw new ThreadError(messageOf(error));
  }
}

/** The work of profiles that follow each other and share a tokenizer: begun once. What failed is tried again, as a hub may be away for a moment. */
export class SharedTokenWork {
  private work: TokenWork | undefined;

  /** @throws UserError, RunError as `startTokenWork` */
  async open(settings: GenaiSettings, note: (text: string) => void): Promise<TokenWork> {
    this.work ??= await startTokenWork(settings, note);
    return this.work;
  }

  async close(): Promise<void> {
    await this.work?.close();
  }
}
