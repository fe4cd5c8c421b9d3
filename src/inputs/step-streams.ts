import type { DataStep } from "./dataset.ts";

/** perf_analyzer's message for data that mixes both forms. */
export const MIXED =
  "Inconsistency in input-data provided. Can not have a combination of objects and arrays inside of the Data array";

export const MIXED_HINT = "Use objects (one stream of steps) or arrays (one stream each) throughout.";

/** Steps in streams, from the elements of `data`: objects are the steps of one stream, and each list is a stream. */
export class StepStreams {
  readonly streams: DataStep[][] = [];
  private hasLists: boolean | undefined;

  /** Returns the stream to which an element is added; undefined if earlier elements had the other form. */
  open(isList: boolean): DataStep[] | undefined {
    this.hasLists ??= isList;
    if (isList !== this.hasLists) return undefined;
    if (isList || this.streams.length === 0) this.streams.push([]);
    return this.streams.at(-1);
  }
}
