import type { MockPlan } from "../plan/mock.ts";
import { RunError } from "../plan/problem.ts";
import { ERROR_FORM } from "../plan/sent-error.ts";
import { WorkerCalls, WorkerError } from "../runtime/worker-calls.ts";
import { startWorker } from "../runtime/workers.ts";

const START_TIMEOUT_MS = 10_000;

/** Where an embedded target listens. */
export interface EmbeddedPorts {
  readonly httpPort: number;
  readonly grpcPort: number;
}

/** A running embedded target. */
export interface EmbeddedServer extends EmbeddedPorts {
  stop(): Promise<void>;
}

/** What a mock is asked for: inference over HTTP or gRPC, or a chat. */
export type WarmUpKind = "http" | "grpc" | "chat";

/** What the thread of an embedded target is started with. */
export interface EmbeddedStart {
  readonly plan: MockPlan;
  /** What it will be asked for, so that this is warm. */
  readonly kind: WarmUpKind;
}

/** Starts the mock in its own thread on free loopback ports, and waits until it is warm and listens. @throws RunError, and UserError for its tokenizer */
export async function startEmbedded(start: EmbeddedStart): Promise<EmbeddedServer> {
  const worker = startWorker({ role: "mock", data: undefined });
  const fail = (reason: string): RunError =>
    new RunError("internal", `the embedded target did not start: ${reason}`, "Report this as a bug.");
  const calls = new WorkerCalls(worker, ERROR_FORM);
  const late = (): void => calls.fail(fail(`no response within ${START_TIMEOUT_MS} ms`));
  // To fetch a tokenizer takes longer, and has a separate limit.
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
