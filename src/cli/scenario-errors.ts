import { resolve } from "node:path";
import { EXIT } from "../result/exit-codes.ts";
import { guardExit } from "../runtime/process-end/exit-guard.ts";
import { describeExit, toLaterError } from "../scenario/scenario-error.ts";

/** Rejects if the scenario's code throws during the run, in a timer or in a promise that is not awaited. */
export async function withoutErrorsOf<T>(file: string, running: Promise<T>): Promise<T> {
  let listener = (_error: unknown): void => {};
  const thrown = new Promise<never>((_resolve, reject) => {
    listener = (error) => reject(toLaterError(error, file, resolve(file)) ?? error);
  });
  process.on("uncaughtException", listener);
  process.on("unhandledRejection", listener);
  try {
    return await Promise.race([running, thrown]);
  } finally {
    process.off("uncaughtException", listener);
    process.off("unhandledRejection", listener);
  }
}

/** Turns an end of the process by the scenario's code into an error, because its assertions would otherwise not be judged. */
export async function withoutExitOf<T>(file: string, run: () => Promise<T>): Promise<T> {
  const release = guardExit((code) => describeExit(file, code, "during its run"), EXIT.internal);
  try {
    return await run();
  } finally {
    release();
  }
}
