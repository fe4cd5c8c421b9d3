import { parentPort, workerData } from "node:worker_threads";
import type { TokenWorkData } from "./cli/genai-perf/profile/token-work.ts";
import type { TokenThreadData } from "./measure/tokens/token-thread.ts";
import { ERROR_FORM } from "./plan/sent-error.ts";
import { useFileMirror } from "./runtime/files.ts";
import { lowerThreadPriority } from "./runtime/thread-priority.ts";
import { serveCalls } from "./runtime/worker-calls.ts";
import type { WorkerStart } from "./runtime/workers.ts";

/** Entry of a worker thread: runs the role that it was started for. */

const { role, data, files } = workerData as WorkerStart;
useFileMirror(files);
if (parentPort === null) throw new Error("worker.ts is started by Rampart, not by hand");
if (role === "mock") {
  const { startWarmMock } = await import("./mock/warm-up.ts");
  serveCalls(parentPort, startWarmMock, ERROR_FORM);
} else if (role === "send") {
  const { serveSenderThread } = await import("./run/fleet/sender-thread.ts");
  serveSenderThread(parentPort, () => import("./index.ts"));
} else if (role === "measure-tokens") {
  const { serveTokenMeter } = await import("./measure/tokens/token-thread.ts");
  serveTokenMeter(parentPort, data as TokenThreadData, lowerThreadPriority);
} else if (role === "make-prompts") {
  const { servePrompts } = await import("./inputs/prompts/prompt-thread.ts");
  servePrompts(parentPort);
} else {
  const { serveTokenWork } = await import("./cli/genai-perf/profile/token-work.ts");
  serveTokenWork(parentPort, data as TokenWorkData, lowerThreadPriority);
}
