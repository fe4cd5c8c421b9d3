import type { DataStep } from "./dataset.ts";

/** The entries of a JSON document, or their positions in a large file. Lists are streams of steps. */
export interface JsonDocument<E> {
  readonly path: string;
  /** Undefined if there is no list `data`. */
  readonly data: readonly (E | readonly E[])[] | undefined;
  /** Like `data`, for expected outputs; `"wrong"` if it is not a list. */
  readonly validation: readonly (E | readonly E[])[] | "wrong" | undefined;
  /** Returns the entry's JSON value. */
  read(entry: E): unknown;
  /** Returns the step of a checked entry. Present if the document is not kept in memory. */
  store?(entry: E, expected: E | undefined, timestampMs: number | undefined): DataStep;
}
