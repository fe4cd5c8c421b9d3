import { NativeError } from "../../../runtime/ffi/native.ts";
import { runtimeName } from "../../../runtime/runtime.ts";
import type { ServerCallbacks } from "./callbacks.ts";
import { RUN_FILE } from "./write-to-run.ts";

/**
 * Opens the callbacks of this runtime, and ties this process to the run's before anything else takes time.
 * @param runPid the run's process, with which this one ends
 * @throws NativeError
 */
export async function openCallbacks(runPid: number): Promise<ServerCallbacks> {
  try {
    return await (await import("./compiled-callbacks.ts")).openCompiledCallbacks(runPid, {
      input: 0,
      output: RUN_FILE,
    });
  } catch (error) {
    if (runtimeName === "bun" || !(error instanceof NativeError)) throw error;
    return (await import("./script-callbacks.ts")).openScriptCallbacks(runPid, error.message);
  }
}
