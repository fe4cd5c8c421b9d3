import { writeSync } from "node:fs";

/** The file of the pipe to the run. Standard output is the models'. */
export const RUN_FILE = 3;

/** Writes everything; the pipe waits while the run does not read. */
export function writeToRun(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(RUN_FILE, bytes, at);
}
