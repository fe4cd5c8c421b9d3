import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { type FileMirror, fileMirror } from "./files.ts";
import { isExecutable } from "./runtime.ts";

/** The role of a thread. Threads run `src/worker.ts`. */
export interface WorkerRole {
  readonly role: "mock" | "send" | "make-prompts" | "token-work" | "measure-tokens";
  /** Plain data. */
  readonly data: unknown;
}

/** Data that a thread gets at its start. */
export interface WorkerStart extends WorkerRole {
  /** Local copies of the files that it uses, if they are from another host. */
  readonly files: FileMirror | undefined;
}

/**
 * Starts a thread. Its messages and errors arrive at the returned worker.
 * @param files local copies of another host's files; default: those of this thread
 */
export function startWorker(role: WorkerRole, files = fileMirror()): Worker {
  const start: WorkerStart = { ...role, files };
  return new Worker(workerUrl(), { workerData: start });
}

/**
 * Returns the URL of the worker module. In an executable or a bundle all modules are in one folder; in the source and the
 * package this module is one folder below.
 */
function workerUrl(): URL {
  const extension = import.meta.url.endsWith(".js") && !isExecutable ? "js" : "ts";
  const beside = new URL(`./worker.${extension}`, import.meta.url);
  return isExecutable || existsSync(beside) ? beside : new URL(`../worker.${extension}`, import.meta.url);
}
