import { resolve } from "node:path";
import { toLaterError } from "../scenario/scenario-error.ts";

/** Rejects when the scenario's code throws during the run, in a timer or a promise that is not awaited. */
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
