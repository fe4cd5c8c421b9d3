import type { LevelsPlan, SearchPlan } from "../plan/load-plan.ts";
import type { Builders, Schema } from "../plan/schema.ts";

/** The levels of a load: their schema, and their order in a linear search. */

export function searchSchema(v: Builders): Schema<SearchPlan> {
  return v.picklist(["linear", "binary"], "must be linear or binary");
}

/** More requests outstanding than this are a slip of the hand, and would take all memory before the first answer. */
export const MAX_CONCURRENCY = 100_000;

/** A number of requests outstanding. */
export function concurrencySchema(v: Builders): Schema<number> {
  return v.pipe(
    v.number(),
    v.integer("must be a whole number"),
    v.minValue(1, "must be 1 or more"),
    v.maxValue(MAX_CONCURRENCY, "must be 100,000 at most"),
  );
}

/** A schema of levels whose values satisfy `value`. */
export function levelsSchema(v: Builders, value: Schema<number>): Schema<LevelsPlan> {
  return v.variant("kind", [
    v.object({
      kind: v.literal("range"),
      start: value,
      end: v.nullable(value),
      step: v.pipe(v.number(), v.gtValue(0, "must be above 0")),
      isThreadLimited: v.exactOptional(v.literal(true)),
    }),
    v.object({ kind: v.literal("list"), values: v.pipe(v.array(value), v.minLength(1, "must have a level")) }),
  ]);
}

/** The level at a place in the order of a linear search; undefined behind the last one. A range whose end is below its start has one. */
export function levelAt(levels: LevelsPlan, index: number): number | undefined {
  if (levels.kind === "list") return levels.values[index];
  const level = levels.start + index * levels.step;
  return index === 0 || levels.end === null || level <= levels.end ? level : undefined;
}

/** The levels in words: `1, 2, 4`, or `1 to 8 by 1`. */
export function describeLevels(levels: LevelsPlan): string {
  if (levels.kind === "list") return levels.values.join(", ");
  return `${levels.start} to ${levels.end ?? "the limit"} by ${levels.step}`;
}

/** The largest level; undefined for a range without an end. */
export function largestLevel(levels: LevelsPlan): number | undefined {
  if (levels.kind === "list") {
    let largest = 0;
    for (const value of levels.values) largest = Math.max(largest, value);
    return largest;
  }
  return levels.end === null ? undefined : Math.max(levels.start, levels.end);
}
