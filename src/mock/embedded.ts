import type { MockPlan } from "../plan/mock.ts";
import { RunError } from "../plan/problem.ts";
import { ERROR_FORM } from "../plan/sent-error.ts";
import { WorkerCalls, WorkerError } from "../runtime/worker-calls.ts";
import { startWorker } from "../runtime/workers.ts";
import type { WarmUpKind } from "./warm-up.ts";

const START_TIMEOUT_MS = 10_000;

/** A running embedded target. */
export interface EmbeddedServer {
  readonly httpPort: number;
  readonly grpcPort: number;
  stop(): Promise<void>;
}

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
  const late = (): void => calls.fail(fail(`no answer within ${START_TIMEOUT_MS} ms`));
  // To fetch a tokenizer takes longer, and has a limit of its own.
  const timer = start.plan.llm?.tokenizer === undefined ? setTimeout(late, START_TIMEOUT_MS) : undefined;
  const ports = await calls
    .call<{ httpPort: number; grpcPort: number }>(start)
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
