import { parentPort, workerData } from "node:worker_threads";
import type { SentSettings } from "./cli/genai-perf/profile/token-work.ts";
import type { PromptTask } from "./inputs/prompts/prompt-thread.ts";
import type { TokenThreadData } from "./measure/tokens/token-thread.ts";
import type { MockPlan } from "./plan/mock.ts";
import type { WorkerRole } from "./runtime/workers.ts";

/** A thread's entry: does what its role says. */

const { role, data } = workerData as WorkerRole;
if (parentPort === null) throw new Error("worker.ts is started by Rampart, not by hand");
if (role === "mock") {
  const { startMock } = await import("./mock/server.ts");
  const server = await startMock(data as MockPlan, { host: "127.0.0.1", httpPort: 0, grpcPort: 0 });
  parentPort.postMessage({ httpPort: server.httpPort, grpcPort: server.grpcPort });
} else if (role === "measure-tokens") {
  const { serveTokenMeter } = await import("./measure/tokens/token-thread.ts");
  await serveTokenMeter(parentPort, data as TokenThreadData);
} else if (role === "make-prompts") {
  const { servePrompts } = await import("./inputs/prompts/prompt-thread.ts");
  await servePrompts(parentPort, data as PromptTask);
} else {
  const { serveTokenWork } = await import("./cli/genai-perf/profile/token-work.ts");
  await serveTokenWork(parentPort, data as SentSettings);
}
