import { stat } from "node:fs/promises";

/** Which files of request data are too large to be held in memory: their entries are read when they are sent. */

/** Larger files are not held. */
export const MAX_HELD_BYTES = 64 * 1024 * 1024; // 64 MiB

/** Whether a file is larger than that. One that cannot be read is not: it is reported when it is read. */
export async function isLargeFile(path: string, maxHeldBytes = MAX_HELD_BYTES): Promise<boolean> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  return size > maxHeldBytes;
}
