import type { MockPlan } from "../plan/mock.ts";
import { RunError } from "../plan/problem.ts";
import { ERROR_FORM } from "../plan/sent-error.ts";
import { WorkerCalls, WorkerError } from "../runtime/worker-calls.ts";
import { startWorker } from "../runtime/workers.ts";

/** Far longer than a thread takes to start on a busy host: one that takes longer never starts. */
const START_TIMEOUT_MS = 60_000;
const TOO_BUSY =
  "This host may be too busy: try again when other programs leave it a core. Otherwise report this as a bug.";

/** Ports on which an embedded target listens. */
export interface EmbeddedPorts {
  readonly httpPort: number;
  readonly grpcPort: number;
}

/** A running embedded target. */
export interface EmbeddedServer extends EmbeddedPorts {
  stop(): Promise<void>;
}

/** Kind of requests that a mock is warmed up for: inference over HTTP or gRPC, or a chat. */
export type WarmUpKind = "http" | "grpc" | "chat";

/** Start parameters of the thread of an embedded target. */
export interface EmbeddedStart {
  readonly plan: MockPlan;
  /** Kind of requests that the run will send, which the target is warmed up for. */
  readonly kind: WarmUpKind;
}

/** Starts the mock in a thread on free loopback ports, and waits until it is warm. @throws RunError, UserError for its tokenizer */
export async function startEmbedded(start: EmbeddedStart): Promise<EmbeddedServer> {
  const worker = startWorker({ role: "mock", data: undefined });
  const fail = (reason: string, hint = "Report this as a bug."): RunError =>
    new RunError("internal", `the embedded target did not start: ${reason}`, hint);
  const calls = new WorkerCalls(worker, ERROR_FORM);
  const late = (): void => calls.fail(fail(`no response within ${START_TIMEOUT_MS} ms`, TOO_BUSY));
  // Fetching a tokenizer takes longer and has a separate limit.
  const timer = start.plan.llm?.tokenizer === undefined ? setTimeout(late, START_TIMEOUT_MS) : undefined;
  const ports = await calls
    .call<EmbeddedPorts>(start)
    .catch((error: Error) => {
      throw error instanceof WorkerError ? fail(error.message) : error;
    })
    .finally(() => clearTimeout(timer));
  return {
    ...ports,
    stop: async () => {
      await worker.terminate();
    },
  };
}
