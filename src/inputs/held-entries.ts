import { joinBytes } from "../runtime/bytes.ts";
import type { PayloadEntry } from "./payload-entry.ts";

/** An entry in memory. Its payload is the bytes of the body; for tensors, the JSON of the whole entry. */
export type HeldEntry = PayloadEntry & { readonly payload: Uint8Array };

/**
 * All entries of a data file that this process created itself, so that the file need not be read. The data is a few large values, because
 * it is sent to another thread.
 */
export interface HeldEntries {
  /** All payloads, one after another. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Length of each payload. */
  readonly byteCounts: readonly number[];
  readonly fields: readonly PayloadEntry["fields"][];
}

/** Joins entries. */
export function packEntries(entries: readonly HeldEntry[]): HeldEntries {
  return {
    bytes: joinBytes(entries.map(({ payload }) => payload)),
    byteCounts: entries.map(({ payload }) => payload.length),
    fields: entries.map(({ fields }) => fields),
  };
}

/** Returns the joined entries, without a copy. */
export function unpackEntries({ bytes, byteCounts, fields }: HeldEntries): HeldEntry[] {
  let end = 0;
  return byteCounts.map((count, index) => {
    end += count;
    return { payload: bytes.subarray(end - count, end), fields: fields[index] ?? {} };
  });
}
