import { fileSystem } from "./files.ts";

/** Writes all of the text synchronously. @throws the system's error (`code` is `ENOSPC`, `EPIPE`, …), which no runtime's console reports */
export function writeStdout(text: string): void {
  writeAll(1, text);
}

/**
 * Writes to standard error synchronously. Never throws. Does not use the console, because on a terminal Bun's prints everything in
 * red.
 */
export function writeStderr(text: string): void {
  try {
    writeAll(2, text);
  } catch {
    // The failure cannot be reported anywhere.
  }
}

const EAGAIN_PAUSE_MS = 5;
/**
 * A pipe accepts up to this number of bytes completely or not at all (PIPE_BUF of POSIX). Deno does not report which part of a longer write
 * was written.
 */
export const PIPE_BYTES = 4096;

function writeAll(fd: number, text: string): void {
  const { writeSync } = fileSystem();
  let bytes: Uint8Array = new TextEncoder().encode(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes, 0, Math.min(PIPE_BYTES, bytes.length)));
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, EAGAIN_PAUSE_MS);
    }
  }
}
