import * as v from "valibot";
import { aboveZeroSchema, type PlanOf, type Schema } from "./schema.ts";

/** The parts of a plan that describe loads, by `kind`: those of the entries in `registry/load-modes.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: the registry adds to it.
export interface LoadPlans {}

/** A load of any kind. */
export type LoadPlan = LoadPlans[keyof LoadPlans];

/** The levels of a load, measured in order. */
export type LevelsPlan = PlanOf<typeof levelsSchema>;

/** Returns the schema of levels with values of schema `value`. */
export function levelsSchema(value: Schema<number>) {
  return v.variant("kind", [
    /** `start`, `start + step`, … up to `end`; null: until the latency limit is exceeded. */
    v.object({
      kind: v.literal("range"),
      start: value,
      end: v.nullable(value),
      step: aboveZeroSchema(),
      /** Set if the user gave no end, so that `end` is derived from the number of threads. */
      isThreadLimited: v.exactOptional(v.literal(true)),
      /** Set if the user gave 0 as the start, which is not a level: the first one is then a step above it. */
      isFromZero: v.exactOptional(v.literal(true)),
    }),
    v.object({ kind: v.literal("list"), values: v.pipe(v.array(value), v.minLength(1, "must have a level")) }),
  ]);
}

/**
 * Search over the levels: `linear` measures them in order, `knee` in order until throughput stops growing, `binary` bisects for
 * the highest level that meets the latency limit, `highest` doubles and bisects for the highest level that certainly keeps the
 * plan's limits.
 */
export type SearchPlan = PlanOf<typeof searchSchema>;

export function searchSchema() {
  return v.picklist(["linear", "knee", "binary", "highest"], "must be linear, knee, binary or highest");
}
