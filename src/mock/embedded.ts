import type { MockPlan } from "../plan/mock.ts";
import { RunError } from "../plan/problem.ts";
import { startWorker } from "../runtime/workers.ts";

const START_TIMEOUT_MS = 10_000;

/** A running embedded target. */
export interface EmbeddedServer {
  readonly httpPort: number;
  readonly grpcPort: number;
  stop(): Promise<void>;
}

/** Starts the mock in its own thread on free loopback ports, and waits until it listens. @throws RunError */
export async function startEmbedded(plan: MockPlan): Promise<EmbeddedServer> {
  const worker = startWorker({ role: "mock", data: plan });
  const ports = await new Promise<{ httpPort: number; grpcPort: number }>((resolve, reject) => {
    const fail = (message: string): void =>
      reject(new RunError("internal", `the embedded target did not start: ${message}`, "Report this as a bug."));
    const timer = setTimeout(() => fail(`no answer within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    worker.once("message", (message: { httpPort: number; grpcPort: number }) => {
      clearTimeout(timer);
      resolve(message);
    });
    worker.once("error", (error: Error) => fail(error.message));
  });
  return {
    ...ports,
    stop: async () => {
      await worker.terminate();
    },
  };
}
