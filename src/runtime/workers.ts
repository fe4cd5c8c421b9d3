import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { isExecutable } from "./runtime.ts";

/** The role of a thread. Threads run `src/worker.ts`. */
export interface WorkerRole {
  readonly role: "mock" | "send" | "make-prompts" | "token-work" | "measure-tokens";
  /** Plain data. */
  readonly data: unknown;
}

/** Starts a thread. Its messages and errors arrive at the returned worker. */
export function startWorker(role: WorkerRole): Worker {
  return new Worker(workerUrl(), { workerData: role });
}

/** In an executable or a bundle all modules are in one folder; in the source and the package this module is one folder below. */
function workerUrl(): URL {
  const extension = import.meta.url.endsWith(".js") && !isExecutable ? "js" : "ts";
  const beside = new URL(`./worker.${extension}`, import.meta.url);
  return isExecutable || existsSync(beside) ? beside : new URL(`../worker.${extension}`, import.meta.url);
}
