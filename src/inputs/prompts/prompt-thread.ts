import type { MessagePort, Worker } from "node:worker_threads";
import { messageOf } from "../../plan/problem.ts";
import type { PromptsPlan } from "../../plan/prompts.ts";
import { receiveError, type SentError, sendError } from "../../plan/sent-error.ts";
import { startWorker } from "../../runtime/workers.ts";
import type { DataOrder, Dataset } from "../dataset.ts";

/** Makes prompts in a thread of its own, so that neither its time nor the tokenizer's memory is in the thread that times responses. */

/** What the thread is given. */
export interface PromptTask {
  /** The plan as JSON: what users put into bodies need be no data that a message can hold. */
  readonly planJson: string;
  readonly order: DataOrder;
}

type Reply =
  | { readonly kind: "made"; readonly dataset: Dataset }
  | { readonly kind: "failed"; readonly error: SentError };

/** The thread's side: makes them and ends. */
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
 * All requests of a plan's prompts. Where no thread can be started they are made in the caller's, and a warning says so.
 * @param start how to start the thread
 * @throws UserError as `makePromptDataset`
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
    const warning = `Prompts were made in the thread that times responses, before the run: no other could be started (${messageOf(error)}).`;
    return { ...dataset, warnings: [...dataset.warnings, warning] };
  } finally {
    await worker?.terminate();
  }
}

/** The thread itself failed, not what it was asked to do. */
class ThreadError extends Error {}

function replyOf(worker: Worker): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  worker.once("message", resolve);
  worker.once("error", (error) => reject(new ThreadError(messageOf(error))));
  worker.once("exit", () => reject(new ThreadError("it ended at once")));
  return promise;
}
