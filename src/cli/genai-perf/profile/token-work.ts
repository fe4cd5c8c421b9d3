import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { openTokenThread, type TokenThread } from "../../../measure/tokens/token-link.ts";
import { MeterDesk, type TokenTask } from "../../../measure/tokens/token-thread.ts";
import { defined } from "../../../plan/objects.ts";
import { messageOf } from "../../../plan/problem.ts";
import { registeredSecrets, registerSecret } from "../../../plan/secrets.ts";
import { ERROR_FORM } from "../../../plan/sent-error.ts";
import { RecordsFile } from "../../../report/records/genai-records.ts";
import { type CallPort, serveCalls, WorkerError } from "../../../runtime/worker-calls.ts";
import { startWorker } from "../../../runtime/workers.ts";
import { loadTokenizer } from "../../../tokenize/load-tokenizer.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import type { ProfilePlan } from "../plan/to-plan.ts";
import { openLayout, type PayloadLayout } from "./payload-layout.ts";
import { type WriteTask, type WrittenInputs, writeInputs } from "./write-inputs.ts";

/**
 * Runs the parts of a profile that need a tokenizer in a separate thread: creating requests, and measuring responses. They then take
 * neither time nor memory from the thread that times responses.
 */

/** Does this work for consecutive profiles. */
export interface TokenWork extends TokenThread {
  /** Writes the requests of a run. @throws UserError, RunError like `writeInputs` */
  write(task: WriteTask): Promise<WrittenInputs>;
}

/**
 * Loads the tokenizer of a profile; undefined if no text must be counted: there is none, or only the server's counts are used
 * and no prompts are generated.
 * @param trustRemoteCode whether the user asks to run code of the tokenizer, which is rejected. Default: false
 * @throws UserError, RunError like `loadTokenizer`
 */
export async function openTokenizer(plan: ProfilePlan, trustRemoteCode = false): Promise<Tokenizer | undefined> {
  const needed = tokenizerOf(plan);
  return needed && loadTokenizer(needed.name, { revision: needed.revision, trustRemoteCode });
}

interface NeededTokenizer {
  readonly name: string;
  readonly revision: string;
}

function tokenizerOf({ requests, measurement }: ProfilePlan): NeededTokenizer | undefined {
  const { tokenizer: name = "none", revision = "" } = measurement.tokens ?? {};
  const hasText = requests.prompts.textsPerRequest > 0 && requests.body.kind !== "commands";
  return name === "none" || !hasText ? undefined : { name, revision };
}

/** Data for the start of the thread. */
export interface TokenWorkData {
  /** Absent: no tokenizer is needed. */
  readonly tokenizer?: NeededTokenizer | undefined;
  /** Secrets to mask, because the thread also writes files. */
  readonly secrets: readonly string[];
}

type Task = TokenTask | { readonly kind: "write"; readonly secrets: readonly string[]; readonly task: WriteTask };

/** Entry point of the thread: loads the tokenizer, and works until it is ended. @param onBegin called when a run begins */
export function serveTokenWork(port: MessagePort, data: TokenWorkData, onBegin?: () => void): void {
  const opening = openTokenWork(data, onBegin);
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

async function openTokenWork(
  { tokenizer: needed, secrets }: TokenWorkData,
  onBegin: (() => void) | undefined,
): Promise<(task: Task) => unknown> {
  for (const secret of secrets) registerSecret(secret);
  const tokenizer = needed && (await loadTokenizer(needed.name, { revision: needed.revision }));
  let countPayload: PayloadLayout["countPayload"];
  const desk = new MeterDesk({
    countTokens: tokenizer && ((text) => tokenizer.count(text)),
    countPayload: (payload) => countPayload?.(payload) ?? Number.NaN,
    openRecords: (run) => new RecordsFile(run.recordsFile, run),
    ...defined({ onBegin }),
  });
  const write = async (task: WriteTask): Promise<WrittenInputs> => {
    const layout = await openLayout(task.requests, tokenizer);
    countPayload = layout.countPayload;
    return writeInputs(task, tokenizer, layout);
  };
  return (received) => {
    if (received.kind !== "write") return desk.handle(received);
    for (const secret of received.secrets) registerSecret(secret);
    return write(received.task);
  };
}

async function connect(port: CallPort, end: () => Promise<unknown>): Promise<TokenWork> {
  const { link, close } = await openTokenThread(port, end);
  const write = (task: WriteTask): Promise<WrittenInputs> =>
    link.call<WrittenInputs>({ kind: "write", secrets: registeredSecrets(), task } satisfies Task);
  return { link, close, write };
}

/**
 * Starts the work in a separate thread, or in the caller's thread if no thread can be started.
 * @param note receives the reason why there is no thread
 * @param start starts the thread
 * @throws UserError, RunError like `openTokenizer`
 */
export async function startTokenWork(
  plan: ProfilePlan,
  note: (text: string) => void,
  start: (data: TokenWorkData) => Worker = (data) => startWorker({ role: "token-work", data }),
): Promise<TokenWork> {
  const data: TokenWorkData = { tokenizer: tokenizerOf(plan), secrets: registeredSecrets() };
  let worker: Worker | undefined;
  try {
    worker = start(data);
    return await connect(worker, worker.terminate.bind(worker));
  } catch (error) {
    if (worker !== undefined && !(error instanceof WorkerError)) throw error;
    note(`requests are made and responses measured in the thread that times responses: ${messageOf(error)}`);
  }
  const { port1, port2 } = new MessageChannel();
  serveTokenWork(port2, data);
  return connect(port1, async () => {
    port1.close();
    port2.close();
  });
}

/** Shares the tokenizer between consecutive profiles. After a failure it tries again, because a hub can be temporarily unavailable. */
export class SharedTokenWork {
  private work: TokenWork | undefined;

  /** @throws UserError, RunError like `startTokenWork` */
  async open(plan: ProfilePlan, note: (text: string) => void): Promise<TokenWork> {
    this.work ??= await startTokenWork(plan, note);
    return this.work;
  }

  async close(): Promise<void> {
    await this.work?.close();
  }
}
