import { fileSystem } from "./files.ts";

/** Standard output and error, written at once and in order: nothing is lost when the process ends. */

/**
 * Writes all of the text. Throws the system's error (`code` is `ENOSPC`, `EPIPE` …) when it cannot: the console of no runtime says so.
 */
export function writeStdout(text: string): void {
  writeAll(1, text);
}

/** Whole lines go through the console, which all three runtimes write synchronously, and which is there from the start. Throws never. */
export function writeStderr(text: string): void {
  if (text.endsWith("\n")) {
    console.error(text.slice(0, -1));
    return;
  }
  try {
    writeAll(2, text);
  } catch {
    // There is nowhere to report it.
  }
}

const EAGAIN_PAUSE_MS = 5;

function writeAll(fd: number, text: string): void {
  const { writeSync } = fileSystem();
  let bytes: Uint8Array = new TextEncoder().encode(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EAGAIN_PAUSE_MS);
    }
  }
}
