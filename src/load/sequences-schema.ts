import type { Builders, Schema } from "../plan/schema.ts";
import type { SequencesPlan } from "../plan/sequences.ts";

/** Schema of a plan's sequence settings. */
export function sequencesSchema(v: Builders): Schema<SequencesPlan> {
  const count = v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(1, "must be 1 or more"));
  return v.object({
    length: v.nullable(count),
    lengthVariationPct: v.pipe(v.number(), v.minValue(0, "must be 0 or more")),
    startId: count,
    idCount: v.nullable(count),
    concurrent: count,
    isSerial: v.boolean(),
  });
}
