import type { MessagePort, Worker } from "node:worker_threads";

/** The other side of a call. */
export type CallPort = MessagePort | Worker;

/** Error of the thread itself, not of a task. */
export class WorkerError extends Error {
  override readonly name = "WorkerError";
}

/** Converts errors to plain data for another thread, because a message would keep only their text. */
export interface ErrorForm<S> {
  send(error: unknown): S;
  receive(sent: S): Error;
}

interface Asked {
  readonly id: number;
  readonly task: unknown;
}

type Reply<S> =
  /** The other side is listening. Deno loses messages sent to a thread before that. */
  | { readonly isReady: true }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: S };

/** Calls to another thread. Every call has one reply. Tasks arrive in sending order. */
export class WorkerCalls<S> {
  private readonly port: CallPort;
  private readonly errors: ErrorForm<S>;
  private readonly waiting = new Map<number, PromiseWithResolvers<unknown>>();
  /** Tasks that wait until the other side is listening; undefined once it is. */
  private queue: { readonly asked: Asked; readonly transfer: readonly ArrayBuffer[] }[] | undefined = [];
  private nextId = 0;
  private end: Error | undefined;

  constructor(port: CallPort, errors: ErrorForm<S>) {
    this.port = port;
    this.errors = errors;
    const receive = (reply: Reply<S>): void => this.receive(reply);
    if (!("threadId" in port)) {
      port.on("message", receive);
      return;
    }
    port.on("message", receive);
    port.on("error", (error) => this.fail(new WorkerError(error instanceof Error ? error.message : String(error))));
    port.on("exit", () => this.fail(new WorkerError("it ended")));
  }

  /**
   * Resolves with the reply. Rejects with the error that the task threw, or with `WorkerError` if the thread ends. @param transfer buffers
   * to transfer
   */
  call<R>(task: unknown, transfer: readonly ArrayBuffer[] = []): Promise<R> {
    if (this.end !== undefined) return Promise.reject(this.end);
    const id = this.nextId++;
    const waiting = Promise.withResolvers<unknown>();
    this.waiting.set(id, waiting);
    this.send({ id, task }, transfer);
    return waiting.promise as Promise<R>;
  }

  /** Rejects every pending and later call. Only the first failure counts. */
  fail(error: Error): void {
    this.end ??= error;
    for (const { reject } of this.waiting.values()) reject(this.end);
    this.waiting.clear();
  }

  private send(asked: Asked, transfer: readonly ArrayBuffer[]): void {
    if (this.queue === undefined) this.port.postMessage(asked, transfer);
    else this.queue.push({ asked, transfer });
  }

  private receive(reply: Reply<S>): void {
    if ("isReady" in reply) {
      const { queue = [] } = this;
      this.queue = undefined;
      for (const { asked, transfer } of queue) this.send(asked, transfer);
      return;
    }
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if ("error" in reply) waiting?.reject(this.errors.receive(reply.error));
    else waiting?.resolve(reply.value);
  }
}

/**
 * Serves the calls of another thread.
 * @param handle runs a task; its result is the reply
 * @param buffersOf returns the buffers of a reply to transfer. Default: none
 */
export function serveCalls<T, S>(
  port: MessagePort,
  handle: (task: T) => unknown,
  errors: ErrorForm<S>,
  buffersOf: (value: unknown) => readonly ArrayBuffer[] = () => [],
): void {
  port.on("message", async ({ id, task }: Asked) => {
    try {
      const result = handle(task as T);
      const value: unknown = result instanceof Promise ? await result : result;
      port.postMessage({ id, value } satisfies Reply<S>, buffersOf(value));
    } catch (error) {
      port.postMessage({ id, error: errors.send(error) } satisfies Reply<S>);
    }
  });
  port.postMessage({ isReady: true } satisfies Reply<S>);
}
