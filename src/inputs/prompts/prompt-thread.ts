import type { MessagePort, Worker } from "node:worker_threads";
import { messageOf } from "../../plan/problem.ts";
import type { PromptsPlan } from "../../plan/prompts.ts";
import { ERROR_FORM } from "../../plan/sent-error.ts";
import { serveCalls, WorkerCalls, WorkerError } from "../../runtime/worker-calls.ts";
import { startWorker } from "../../runtime/workers.ts";
import type { DataOrder, Dataset } from "../dataset.ts";

/** Makes prompts in a thread of its own, so that neither its time nor the tokenizer's memory is in the thread that times responses. */

/** What the thread is given. */
export interface PromptTask {
  /** The plan as JSON: what users put into bodies need be no data that a message can hold. */
  readonly planJson: string;
  readonly order: DataOrder;
}

/** The thread's side. */
export function servePrompts(port: MessagePort): void {
  const make = async ({ planJson, order }: PromptTask): Promise<Dataset> => {
    const { makePromptDataset } = await import("./prompt-dataset.ts");
    return makePromptDataset(JSON.parse(planJson) as PromptsPlan, order);
  };
  serveCalls(port, make, ERROR_FORM);
}

/**
 * All requests of a plan's prompts. Where no thread can be started they are made in the caller's, and a warning says so.
 * @param start how to start the thread
 * @throws UserError as `makePromptDataset`
 */
export async function makePrompts(
  plan: PromptsPlan,
  order: DataOrder,
  start: () => Worker = () => startWorker({ role: "make-prompts", data: undefined }),
): Promise<Dataset> {
  let worker: Worker | undefined;
  try {
    worker = start();
    const task: PromptTask = { planJson: JSON.stringify(plan), order };
    return await new WorkerCalls(worker, ERROR_FORM).call<Dataset>(task);
  } catch (error) {
    if (worker !== undefined && !(error instanceof WorkerError)) throw error;
    const { makePromptDataset } = await import("./prompt-dataset.ts");
    const dataset = await makePromptDataset(plan, order);
    const warning = `Prompts were made in the thread that times responses, before the run: no other could be started (${messageOf(error)}).`;
    return { ...dataset, warnings: [...dataset.warnings, warning] };
  } finally {
    await worker?.terminate();
  }
}
