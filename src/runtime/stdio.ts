import { fileSystem } from "./files.ts";

/** Writes all of the text synchronously. @throws the system's error (`code` is `ENOSPC`, `EPIPE`, …), which no runtime's console reports */
export function writeStdout(text: string): void {
  writeAll(1, text);
}

/** Writes to standard error synchronously. Never throws. Not through the console: on a terminal, Bun's prints everything in red. */
export function writeStderr(text: string): void {
  try {
    writeAll(2, text);
  } catch {
    // It cannot be reported anywhere.
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
