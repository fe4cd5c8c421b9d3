import { fileSystem } from "./files.ts";

/**
 * Standard output and error, written at once and in order: nothing is lost when the process ends. Whole lines go through the console,
 * which all three runtimes write synchronously to files, pipes and terminals, and which is there from the start.
 */

export function writeStdout(text: string): void {
  if (text.endsWith("\n")) console.log(text.slice(0, -1));
  else writeAll(1, text);
}

export function writeStderr(text: string): void {
  if (text.endsWith("\n")) console.error(text.slice(0, -1));
  else writeAll(2, text);
}

const EAGAIN_PAUSE_MS = 5;

/** Text without a line break at its end, such as a question. */
function writeAll(fd: number, text: string): void {
  const { writeSync } = fileSystem();
  let bytes: Uint8Array = new TextEncoder().encode(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (error) {
      const { code } = error as { code?: string };
      // A reader that went away wants no more output.
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EAGAIN_PAUSE_MS);
    }
  }
}
