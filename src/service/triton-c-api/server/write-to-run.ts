import { writeSync } from "node:fs";

/** Descriptor of the pipe to the run. Standard output is for the models. */
export const RUN_FILE = 3;

/** Writes all bytes. Blocks while the run does not read. */
export function writeToRun(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(RUN_FILE, bytes, at);
}
