import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { MeterDesk, TokenLink, type TokenTask } from "../../../measure/tokens/token-thread.ts";
import { messageOf, RunError } from "../../../plan/problem.ts";
import { registeredSecrets, registerSecret } from "../../../plan/secrets.ts";
import { ERROR_FORM, type SentError } from "../../../plan/sent-error.ts";
import { RecordsFile } from "../../../report/genai-perf/records-file.ts";
import { type CallPort, serveCalls, WorkerCalls, WorkerError } from "../../../runtime/worker-calls.ts";
import { startWorker } from "../../../runtime/workers.ts";
import { formatJson, parseJson } from "../../../service/json-text.ts";
import { loadTokenizer } from "../../../tokenize/load-tokenizer.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { PayloadLayout } from "./payload-layout.ts";
import { type WriteTask, type WrittenInputs, writeInputs } from "./write-inputs.ts";

/**
 * Runs the parts of a profile that need a tokenizer in a separate thread: creating requests, and measuring answers. So they take neither
 * time nor memory from the thread that times responses.
 */

/** Does this work for consecutive profiles. */
export interface TokenWork {
  /** Measures the answers of runs. */
  readonly link: TokenLink;
  /** Writes the requests of a run. @throws UserError, RunError like `writeInputs` */
  write(task: WriteTask): Promise<WrittenInputs>;
  close(): Promise<void>;
}

/**
 * Reports whether any text must be counted. False without text, and when only the server's counts are used and no prompts are generated.
 */
function needsTokenizer({ endpoint, tokenizer }: GenaiSettings): boolean {
  return tokenizer.name !== "none" && endpoint.type !== "image_retrieval";
}

/** Loads the settings' tokenizer; undefined if none is needed. @throws UserError, RunError like `loadTokenizer` */
export async function openTokenizer(settings: GenaiSettings): Promise<Tokenizer | undefined> {
  if (!needsTokenizer(settings)) return undefined;
  const { tokenizer, modelNames } = settings;
  const { name, revision, isTrustingRemoteCode: trustRemoteCode } = tokenizer;
  return loadTokenizer(name === "" ? (modelNames[0] ?? "") : name, { revision, trustRemoteCode });
}

/** Extra inputs are sent as text, because a message would not preserve how a number is written. */
export interface SentSettings {
  readonly settings: GenaiSettings;
  readonly extraJson: string;
  /** Secrets to mask, because the thread also writes files. */
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

type Task =
  | TokenTask
  | { readonly kind: "write"; readonly settings: SentSettings; readonly task: Omit<WriteTask, "settings"> };

/** Entry point of the thread: loads the settings' tokenizer, and works until it is ended. */
export function serveTokenWork(port: MessagePort, sent: SentSettings): void {
  const opening = openTokenWork(sent);
  opening.catch(() => {});
  serveCalls(
    port,
    async (task: Task) => (await opening)(task),
    ERROR_FORM,
    (value) => {
      const bytes = (value as Partial<WrittenInputs> | undefined)?.held?.bytes;
      return bytes ? [bytes.buffer] : [];
    },
  );
}

async function openTokenWork(sent: SentSettings): Promise<(task: Task) => unknown> {
  const tokenizer = await openTokenizer(receiveSettings(sent));
  let countPayload: PayloadLayout["countPayload"];
  const desk = new MeterDesk({
    countTokens: tokenizer && ((text) => tokenizer.count(text)),
    countPayload: (payload) => countPayload?.(payload) ?? Number.NaN,
    openRecords: (run) => new RecordsFile(run.recordsFile, run),
  });
  const write = async ({ settings, task }: Task & { kind: "write" }): Promise<WrittenInputs> => {
    const { countPayload: counts, ...written } = await writeInputs(
      { ...task, settings: receiveSettings(settings) },
      tokenizer,
    );
    countPayload = counts;
    return written;
  };
  return (task) => (task.kind === "write" ? write(task) : desk.handle(task));
}

/** The caller's side of a port to the worker. */
class PortTokenWork implements TokenWork {
  readonly link: TokenLink;
  private readonly calls: WorkerCalls<SentError>;
  private readonly end: () => Promise<unknown>;

  /** @param end ends the worker */
  constructor(port: CallPort, end: () => Promise<unknown>) {
    this.end = end;
    this.calls = new WorkerCalls(port, ERROR_FORM);
    this.link = new TokenLink(this.calls);
  }

  /** Waits for the tokenizer. @throws WorkerError when the thread could not be started */
  async start(): Promise<this> {
    try {
      await this.calls.call({ kind: "open" } satisfies Task);
      return this;
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  async write({ settings, ...task }: WriteTask): Promise<WrittenInputs> {
    const sent: Task = { kind: "write", settings: sendSettings(settings), task };
    return this.calls.call<WrittenInputs>(sent).catch((error: unknown) => {
      throw error instanceof WorkerError ? failed(error.message) : error;
    });
  }

  async close(): Promise<void> {
    this.calls.fail(failed("it was closed"));
    await this.end();
  }
}

function failed(reason: string): RunError {
  return new RunError("internal", `the thread that counts tokens failed: ${reason}`, "Report this.");
}

/**
 * Starts the work in a separate thread, or in the caller's thread if none can be started.
 * @param note receives the reason why there is no thread
 * @param start starts the thread
 * @throws UserError, RunError like `openTokenizer`
 */
export async function startTokenWork(
  settings: GenaiSettings,
  note: (text: string) => void,
  start: (settings: SentSettings) => Worker = (data) => startWorker({ role: "token-work", data }),
): Promise<TokenWork> {
  const sent = sendSettings(settings);
  let worker: Worker | undefined;
  try {
    worker = start(sent);
    const { terminate } = worker;
    return await new PortTokenWork(worker, terminate.bind(worker)).start();
  } catch (error) {
    if (worker !== undefined && !(error instanceof WorkerError)) throw error;
    note(`requests are made and answers measured in the thread that times responses: ${messageOf(error)}`);
  }
  const { port1, port2 } = new MessageChannel();
  serveTokenWork(port2, sent);
  const close = async (): Promise<void> => {
    port1.close();
    port2.close();
  };
  return new PortTokenWork(port1, close).start();
}

/**
 * Shares the tokenizer between consecutive profiles and starts the work once. After a failure it tries again, because a hub can be
 * temporarily unavailable.
 */
export class SharedTokenWork {
  private work: TokenWork | undefined;

  /** @throws UserError, RunError like `startTokenWork` */
  async open(settings: GenaiSettings, note: (text: string) => void): Promise<TokenWork> {
    this.work ??= await startTokenWork(settings, note);
    return this.work;
  }

  async close(): Promise<void> {
    await this.work?.close();
  }
}
