import { readSync } from "node:fs";
import { stat } from "node:fs/promises";
import { unreadable } from "../plan/problem.ts";
import { loadFileText, locate, openFile } from "../runtime/files.ts";
import { decoder } from "../runtime/text.ts";
import type { ByteSource, Extent } from "./json-scanner.ts";

/** Files of request data above this size are not kept in memory; their entries are read when they are sent. */
export const MAX_HELD_BYTES = 64 * 1024 * 1024; // 64 MiB

/** Whether a file is larger than `maxHeldBytes`. Returns false if it cannot be read, which is reported later. */
export async function isLargeFile(path: string, maxHeldBytes = MAX_HELD_BYTES): Promise<boolean> {
  const size = await stat(locate(path)).then(
    (found) => found.size,
    () => 0,
  );
  return size > maxHeldBytes;
}

/** Reads a whole file. @throws UserError if it cannot be read */
export function readWhole(path: string): Promise<string> {
  return loadFileText(path).catch((error: unknown) => {
    throw unreadable(path, error, "Give an existing JSON file.");
  });
}

/** A file that is too large to keep in memory. It stays open and must not change. */
export class LargeFile {
  readonly path: string;
  private readonly fd: number;

  /** @throws UserError if the file cannot be read */
  constructor(path: string) {
    this.path = path;
    try {
      this.fd = openFile(path);
    } catch (error) {
      throw unreadable(path, error, "Give an existing JSON file.");
    }
  }

  /** Reads the file from its start, independently of other reads. */
  source(): ByteSource {
    let position = 0;
    return {
      read: (into) => {
        const count = readSync(this.fd, into, 0, into.length, position);
        position += count;
        return count;
      },
      close: () => {},
    };
  }

  /** Returns a part of the file. @throws Error if the file has become shorter */
  text({ offset, byteCount }: Extent): string {
    const bytes = new Uint8Array(byteCount);
    if (readSync(this.fd, bytes, 0, byteCount, offset) < byteCount) throw new Error("the file is shorter than before");
    return decoder.decode(bytes);
  }
}
