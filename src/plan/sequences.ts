import * as v from "valibot";
import { atLeast, type PlanOf, wholeSchema } from "./schema.ts";

/** Grouping of requests into sequences, for models that take sequences. */
export type SequencesPlan = PlanOf<typeof sequencesSchema>;

/** Returns the schema of a plan's sequence settings. */
export function sequencesSchema() {
  const count = wholeSchema(1);
  return v.object({
    /** Requests per sequence; null: the length of its data stream, or 20. */
    length: v.nullable(count),
    /** Maximum deviation of a sequence's length from `length`, in percent. */
    lengthVariationPct: v.pipe(v.number(), atLeast(0)),
    /** The first correlation id. */
    startId: count,
    /** Number of ids before they repeat; null: unlimited. */
    idCount: v.nullable(count),
    /** Number of concurrent sequences of a scheduled load; other loads have one per outstanding request. */
    concurrent: count,
    /** Whether a sequence has at most one outstanding request. */
    isSerial: v.boolean(),
  });
}

/** perf_analyzer's defaults. */
export const DEFAULT_SEQUENCES: SequencesPlan = {
  length: null,
  lengthVariationPct: 20,
  startId: 1,
  idCount: null,
  concurrent: 4,
  isSerial: false,
};
