import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { type MeterPort, serveMeter, TokenLink } from "../../../measure/tokens/token-thread.ts";
import { messageOf, RunError } from "../../../plan/problem.ts";
import { registeredSecrets, registerSecret } from "../../../plan/secrets.ts";
import { receiveError, type SentError, sendError } from "../../../plan/sent-error.ts";
import { RecordsFile } from "../../../report/genai-perf/records-file.ts";
import { startWorker } from "../../../runtime/workers.ts";
import { formatJson, parseJson } from "../../../service/json-text.ts";
import { loadTokenizer } from "../../../tokenize/load-tokenizer.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { PayloadLayout } from "./payload-layout.ts";
import { type WriteTask, type WrittenInputs, writeInputs } from "./write-inputs.ts";

/**
 * The parts of a profile that need a tokenizer: making its requests, and measuring its answers. They have a thread of their own, so that
 * neither their time nor their memory is in the thread that times responses.
 */

/** Does the work of one profile after another. */
export interface TokenWork {
  /** Measures the answers of runs. */
  readonly link: TokenLink;
  /** Writes the requests of a run. @throws UserError, RunError as `writeInputs` */
  write(task: WriteTask): Promise<WrittenInputs>;
  close(): Promise<void>;
}

/** Whether there is any text to count: none, or the user wants only the server's counts, which are not enough for made-up prompts. */
function needsTokenizer({ endpoint, tokenizer }: GenaiSettings): boolean {
  return tokenizer.name !== "none" && endpoint.type !== "image_retrieval";
}

/** Loads the settings' tokenizer; undefined where none is needed. @throws UserError, RunError as `loadTokenizer` */
export async function openTokenizer(settings: GenaiSettings): Promise<Tokenizer | undefined> {
  if (!needsTokenizer(settings)) return undefined;
  const { tokenizer, modelNames } = settings;
  const { name, revision, isTrustingRemoteCode: trustRemoteCode } = tokenizer;
  return loadTokenizer(name === "" ? (modelNames[0] ?? "") : name, { revision, trustRemoteCode });
}

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

interface Task {
  readonly kind: "write";
  readonly settings: SentSettings;
  readonly task: Omit<WriteTask, "settings">;
}

type Reply =
  | { readonly kind: "ready" }
  | { readonly kind: "written"; readonly inputs: WrittenInputs }
  | { readonly kind: "not-written" | "not-started"; readonly error: SentError };

/** The thread's side: loads the settings' tokenizer, says so, and works until it is ended. */
export async function serveTokenWork(port: MessagePort, sent: SentSettings): Promise<void> {
  const say = (reply: Reply): void => port.postMessage(reply);
  let countPayload: PayloadLayout["countPayload"];
  try {
    const tokenizer = await openTokenizer(receiveSettings(sent));
    serveMeter(port, {
      countTokens: tokenizer && ((text) => tokenizer.count(text)),
      countPayload: (payload) => countPayload?.(payload) ?? Number.NaN,
      openRecords: (run) => new RecordsFile(run.recordsFile, run),
    });
    port.on("message", async ({ kind, settings, task }: Task) => {
      if (kind !== "write") return;
      try {
        const written = await writeInputs({ ...task, settings: receiveSettings(settings) }, tokenizer);
        countPayload = written.countPayload;
        const { path, entryCount, notes } = written;
        say({ kind: "written", inputs: { path, entryCount, notes } });
      } catch (error) {
        say({ kind: "not-written", error: sendError(error) });
      }
    });
    say({ kind: "ready" });
  } catch (error) {
    say({ kind: "not-started", error: sendError(error) });
  }
}

/** The thread itself failed, not what it was asked to do. */
class ThreadError extends Error {}

/** The caller's side, over a port to whoever works. */
class PortTokenWork implements TokenWork {
  readonly link: TokenLink;
  private readonly port: MeterPort;
  private readonly end: () => Promise<unknown>;
  private waiting: PromiseWithResolvers<Reply> | undefined;
  private failure: Error | undefined;

  /** @param end ends the other side */
  constructor(port: MeterPort, end: () => Promise<unknown>) {
    this.port = port;
    this.end = end;
    this.link = new TokenLink(port);
    const receive = (reply: Reply): void => {
      if (reply.kind === "not-written" || reply.kind === "not-started") this.waiting?.reject(receiveError(reply.error));
      else if (reply.kind === "written" || reply.kind === "ready") this.waiting?.resolve(reply);
    };
    if ("threadId" in port) port.on("message", receive).on("error", (error) => this.fail(messageOf(error)));
    else port.on("message", receive);
    if ("threadId" in port) port.on("exit", () => this.fail("it ended"));
  }

  /** Waits for the tokenizer. @throws ThreadError when there is no thread after all */
  async start(): Promise<void> {
    try {
      await this.next();
    } catch (error) {
      const { failure } = this;
      await this.end();
      throw failure === undefined ? error : new ThreadError(failure.message);
    }
  }

  async write({ settings, ...task }: WriteTask): Promise<WrittenInputs> {
    if (this.failure !== undefined) throw this.failure;
    this.port.postMessage({ kind: "write", settings: sendSettings(settings), task } satisfies Task);
    const reply = await this.next();
    return (reply as Reply & { kind: "written" }).inputs;
  }

  async close(): Promise<void> {
    this.fail("it was closed");
    await this.end();
  }

  private next(): Promise<Reply> {
    this.waiting = Promise.withResolvers();
    return this.waiting.promise;
  }

  private fail(reason: string): void {
    this.failure ??= new RunError("internal", `the thread that counts tokens failed: ${reason}`, "Report this.");
    this.waiting?.reject(this.failure);
    this.link.fail(this.failure);
  }
}

/**
 * Begins the work: in a thread of its own, or in the caller's where no thread can be started.
 * @param note receives why there is no thread
 * @param start how to start the thread
 * @throws UserError, RunError as `openTokenizer`
 */
export async function startTokenWork(
  settings: GenaiSettings,
  note: (text: string) => void,
  start: (settings: SentSettings) => Worker = (data) => startWorker({ role: "token-work", data }),
): Promise<TokenWork> {
  try {
    return await startThread(() => start(sendSettings(settings)));
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    note(`requests are made and answers measured in the thread that times responses: ${error.message}`);
  }
  const { port1, port2 } = new MessageChannel();
  const work = new PortTokenWork(port1, async () => {
    port1.close();
    port2.close();
  });
  const [started] = await Promise.allSettled([work.start(), serveTokenWork(port2, sendSettings(settings))]);
  if (started.status === "rejected") throw started.reason;
  return work;
}

async function startThread(start: () => Worker): Promise<TokenWork> {
  let worker: Worker;
  try {
    worker = start();
  } catch (error) {
    throw new ThreadError(messageOf(error));
  }
  const work = new PortTokenWork(worker, () => worker.terminate());
  await work.start();
  return work;
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
