import type { DataStep } from "./dataset.ts";

/** A document's entries: themselves, or where they stand in a large file. Lists are streams of steps. */
export interface JsonDocument<E> {
  readonly path: string;
  /** Undefined where there is no list `data`. */
  readonly data: readonly (E | readonly E[])[] | undefined;
  /** As `data`, of expected outputs; `"wrong"` where it is not a list. */
  readonly validation: readonly (E | readonly E[])[] | "wrong" | undefined;
  /** The entry's JSON value. */
  read(entry: E): unknown;
  /** The step of an entry that was checked, where the document does not stay in memory. */
  store?(entry: E, expected: E | undefined, timestampMs: number | undefined): DataStep;
}
