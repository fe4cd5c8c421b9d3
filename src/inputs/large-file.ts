import { stat } from "node:fs/promises";

/** Files of request data above this size are not kept in memory; their entries are read when they are sent. */
export const MAX_HELD_BYTES = 64 * 1024 * 1024; // 64 MiB

/** Whether a file is larger than `maxHeldBytes`. Returns false when it cannot be read, which is reported later. */
export async function isLargeFile(path: string, maxHeldBytes = MAX_HELD_BYTES): Promise<boolean> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  return size > maxHeldBytes;
}
