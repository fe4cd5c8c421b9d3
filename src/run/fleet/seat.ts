import type { Worker } from "node:worker_threads";
import type { FileMirror } from "../../runtime/files.ts";
import { startWorker } from "../../runtime/workers.ts";
import type { SeatTask, ThreadEvent, ThreadReady } from "./sender-thread.ts";

/** Events of a seat, for its conductor. */
export interface SeatListener {
  event(event: ThreadEvent): void;
  /**
   * The seat is gone and reports nothing more. @param isCode whether the user's code may have ended it @param heardNs when it was last
   * heard. Default: now
   */
  gone(reason: string, isCode: boolean, heardNs?: number): void;
}

/** The place of a sender: a thread of this process, or of an agent on another host. */
export interface Seat {
  /** Name in messages: `a thread that sends`. */
  readonly name: string;
  /** The other host that it runs on. Absent: this host. */
  readonly host?: { readonly id: string; readonly name: string };
  post(task: SeatTask): void;
  /** Ends the seat immediately. */
  end(): Promise<void>;
}

/** Starts a thread for a sender. @param files mapping to local copies, if the files are from another host */
export function openThreadSeat(listener: SeatListener, files?: FileMirror): Seat {
  const worker: Worker = startWorker({ role: "send", data: undefined }, files);
  // On Deno, messages sent before the thread listens are lost.
  let waiting: SeatTask[] | undefined = [];
  worker.on("message", (event: ThreadEvent | ThreadReady) => {
    if (event.kind !== "ready") {
      listener.event(event);
      return;
    }
    for (const task of waiting ?? []) worker.postMessage(task);
    waiting = undefined;
  });
  worker.on("error", (error) => listener.gone(error instanceof Error ? error.message : String(error), false));
  worker.on("exit", (code) => listener.gone(`it ended with exit code ${code}`, true));
  return {
    name: "a thread that sends",
    post: (task) => {
      if (waiting === undefined) worker.postMessage(task);
      else waiting.push(task);
    },
    end: async () => {
      await worker.terminate();
    },
  };
}
