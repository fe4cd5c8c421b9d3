import type { MessagePort, Worker } from "node:worker_threads";
import { messageOf } from "../../plan/problem.ts";
import type { PromptsPlan } from "../../plan/prompts.ts";
import { ERROR_FORM } from "../../plan/sent-error.ts";
import { serveCalls, WorkerCalls, WorkerError } from "../../runtime/worker-calls.ts";
import { startWorker } from "../../runtime/workers.ts";
import type { DataOrder, Dataset } from "../dataset.ts";
import { makePromptDataset } from "./prompt-dataset.ts";

/** Input of the thread. */
export interface PromptTask {
  /** The plan as JSON, because values that users put into bodies may not be structured-cloneable. */
  readonly planJson: string;
  readonly order: DataOrder;
}

/** Runs in the thread: creates prompts on request. */
export function servePrompts(port: MessagePort): void {
  const make = async ({ planJson, order }: PromptTask): Promise<Dataset> => {
    return makePromptDataset(JSON.parse(planJson) as PromptsPlan, order);
  };
  serveCalls(port, make, ERROR_FORM);
}

/**
 * Creates all requests of a plan's prompts in a separate thread, so that the measuring thread needs neither the CPU time nor the
 * tokenizer's memory. If no thread can be started, creates them in the calling thread and adds a warning.
 * @param start starts the thread
 * @throws UserError like `makePromptDataset`
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
    const dataset = await makePromptDataset(plan, order);
    const warning = `Prompts were generated in the measuring thread before the run, because no other thread could be started (${messageOf(error)}).`;
    return { ...dataset, warnings: [...dataset.warnings, warning] };
  } finally {
    await worker?.terminate();
  }
}
