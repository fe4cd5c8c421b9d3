import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { openTokenThread, type TokenThread } from "../../../measure/tokens/token-link.ts";
import { MeterDesk, type TokenTask } from "../../../measure/tokens/token-thread.ts";
import { messageOf } from "../../../plan/problem.ts";
import { registeredSecrets, registerSecret } from "../../../plan/secrets.ts";
import { ERROR_FORM } from "../../../plan/sent-error.ts";
import { RecordsFile } from "../../../report/records/genai-records.ts";
import { type CallPort, serveCalls, WorkerError } from "../../../runtime/worker-calls.ts";
import { startWorker } from "../../../runtime/workers.ts";
import { formatJson, parseJson } from "../../../service/json-text.ts";
import { loadTokenizer } from "../../../tokenize/load-tokenizer.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import type { GenaiSettings } from "../options/settings.ts";
import { openLayout, type PayloadLayout } from "./payload-layout.ts";
import { type WriteTask, type WrittenInputs, writeInputs } from "./write-inputs.ts";

/**
 * Runs the parts of a profile that need a tokenizer in a separate thread: creating requests, and measuring responses. So they take neither
 * time nor memory from the thread that times responses.
 */

/** Does this work for consecutive profiles. */
export interface TokenWork extends TokenThread {
  /** Writes the requests of a run. @throws UserError, RunError like `writeInputs` */
  write(task: WriteTask): Promise<WrittenInputs>;
}

/**
 * Reports whether any text must be counted. False without text, and when only the server's counts are used and no prompts are generated.
 */
function needsTokenizer({ endpoint, tokenizer }: GenaiSettings): boolean {
  const { isTextless, callsMethod } = ENDPOINT_TYPES[endpoint.type];
  return tokenizer.name !== "none" && !isTextless && !callsMethod;
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
  const write = async (received: Task & { kind: "write" }): Promise<WrittenInputs> => {
    const settings = receiveSettings(received.settings);
    const layout = await openLayout(settings, tokenizer);
    countPayload = layout.countPayload;
    return writeInputs({ ...received.task, settings }, tokenizer, layout);
  };
  return (task) => (task.kind === "write" ? write(task) : desk.handle(task));
}

async function connect(port: CallPort, end: () => Promise<unknown>): Promise<TokenWork> {
  const { link, close } = await openTokenThread(port, end);
  const write = ({ settings, ...task }: WriteTask): Promise<WrittenInputs> =>
    link.call<WrittenInputs>({ kind: "write", settings: sendSettings(settings), task } satisfies Task);
  return { link, close, write };
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
    return await connect(worker, worker.terminate.bind(worker));
  } catch (error) {
    if (worker !== undefined && !(error instanceof WorkerError)) throw error;
    note(`requests are made and responses measured in the thread that times responses: ${messageOf(error)}`);
  }
  const { port1, port2 } = new MessageChannel();
  serveTokenWork(port2, sent);
  return connect(port1, async () => {
    port1.close();
    port2.close();
  });
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
