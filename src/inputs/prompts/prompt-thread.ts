import type { MessagePort, Worker } from "node:worker_threads";
import { messageOf } from "../../plan/problem.ts";
import type { PromptsPlan } from "../../plan/prompts.ts";
import { receiveError, type SentError, sendError } from "../../plan/sent-error.ts";
import { startWorker } from "../../runtime/workers.ts";
import type { DataOrder, Dataset } from "../dataset.ts";

/** Input of the thread. */
export interface PromptTask {
  /** The plan as JSON, because values that users put into bodies may not be structured-cloneable. */
  readonly planJson: string;
  readonly order: DataOrder;
}

type Reply =
  | { readonly kind: "made"; readonly dataset: Dataset }
  | { readonly kind: "failed"; readonly error: SentError };

/** Runs in the thread: creates the prompts and posts them. */
export async function servePrompts(port: MessagePort, { planJson, order }: PromptTask): Promise<void> {
  let reply: Reply;
  try {
    const { makePromptDataset } = await import("./prompt-dataset.ts");
    reply = { kind: "made", dataset: await makePromptDataset(JSON.parse(planJson) as PromptsPlan, order) };
  } catch (error) {
    reply = { kind: "failed", error: sendError(error) };
  }
  port.postMessage(reply);
}

/**
 * Creates all requests of a plan's prompts in a separate thread, so that neither its CPU time nor the tokenizer's memory is in the
 * measuring thread. If no thread can be started, creates them in the calling thread and adds a warning.
 * @param start starts the thread
 * @throws UserError like `makePromptDataset`
 */
export async function makePrompts(
  plan: PromptsPlan,
  order: DataOrder,
  start: (task: PromptTask) => Worker = (data) => startWorker({ role: "make-prompts", data }),
): Promise<Dataset> {
  let worker: Worker | undefined;
  try {
    worker = start({ planJson: JSON.stringify(plan), order });
    const reply = await replyOf(worker);
    if (reply.kind === "made") return reply.dataset;
    throw receiveError(reply.error);
  } catch (error) {
    if (worker !== undefined && !(error instanceof ThreadError)) throw error;
    const { makePromptDataset } = await import("./prompt-dataset.ts");
    const dataset = await makePromptDataset(plan, order);
    const warning = `Prompts were generated in the measuring thread before the run, because no other thread could be started (${messageOf(error)}).`;
    return { ...dataset, warnings: [...dataset.warnings, warning] };
  } finally {
    await worker?.terminate();
  }
}

/** The thread failed, not its task. */
class ThreadError extends Error {}

function replyOf(worker: Worker): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  worker.once("message", resolve);
  worker.once("error", (error) => reject(new ThreadError(messageOf(error))));
  worker.once("exit", () => reject(new ThreadError("it ended without a result")));
  return promise;
}
