import * as v from "valibot";
import type { LevelsPlan, SearchPlan } from "../plan/load-plan.ts";
import { atLeast, isWhole, type Schema } from "../plan/schema.ts";
import { levelAt } from "./search.ts";

/** Higher values are likely typos. The run checks how many of them a host can have in flight. */
export const MAX_CONCURRENCY = 1_000_000_000;

/** Maximum number of levels that are all measured. More are most likely a typing error: they would take hours, and about 100 KB each. */
export const MOST_LEVELS = 10_000;

/** Schema of a number of outstanding requests. @param least Default: 1 */
export function concurrencySchema(least = 1): Schema<number> {
  return v.pipe(v.number(), isWhole(), atLeast(least), v.maxValue(MAX_CONCURRENCY, "must be 1,000,000,000 at most"));
}

/** Levels between two ends. */
export type LevelRange = Extract<LevelsPlan, { readonly kind: "range" }>;

/** A range as it is written, `START:END:STEP`. */
export interface WrittenRange {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** Reads the text of a range, `START:END` or `START:END:STEP`, with a step of 1 if it has none; undefined for any other text. */
export function parseRange(text: string): WrittenRange | undefined {
  const parts = text.split(":");
  const isRange = parts.length === 2 || parts.length === 3;
  if (!isRange || !parts.every((part) => /^\s*\d{1,15}(?:\.\d{1,15})?\s*$/.test(part))) return undefined;
  const [start = 0, end = 0, step = 1] = parts.map(Number);
  return { start, end, step };
}

/** Returns the ends of levels; undefined for a list. */
export function rangeOf(levels: LevelsPlan): LevelRange | undefined {
  return levels.kind === "range" ? levels : undefined;
}

/** Returns levels with equal steps as a range, a list too; undefined for any other list. */
export function stepsOf(levels: LevelsPlan): LevelRange | undefined {
  if (levels.kind === "range") return levels;
  const [start = 0, second = start, ...rest] = levels.values;
  const step = second - start;
  const isEven = step > 0 && rest.every((value, index) => value === start + (index + 2) * step);
  return isEven ? { kind: "range", start, end: rest.at(-1) ?? second, step } : undefined;
}

/** Returns the number of levels in a linear search; undefined for a range without an end. */
export function countLevels(levels: LevelsPlan): number | undefined {
  if (levels.kind === "list") return levels.values.length;
  if (levels.end === null) return undefined;
  let count = Math.max(1, Math.floor((levels.end - levels.start) / levels.step) + 1);
  // The division may round across a level.
  while (levelAt(levels, count) !== undefined) count++;
  while (levelAt(levels, count - 1) === undefined) count--;
  return count;
}

/** Formats the levels: `1, 2, 4`, or `1 to 8 by 1`. @param search the search over the levels; default: in order */
export function describeLevels(levels: LevelsPlan, search?: SearchPlan): string {
  if (search === "highest" && levels.kind === "range")
    return `between ${levels.start} and ${levels.end}, the highest that keeps the limits`;
  if (search === "highest" && levels.kind === "list")
    return `${levels.values.join(", ")}, the highest that keeps the limits`;
  const order = search === "knee" ? ", until throughput stops growing" : "";
  if (levels.kind === "list") return `${levels.values.join(", ")}${order}`;
  return `${levels.start} to ${levels.end ?? "the limit"} by ${levels.step}${order}`;
}

/** Returns the largest level; undefined for a range without an end. */
export function largestLevel(levels: LevelsPlan): number | undefined {
  if (levels.kind === "list") {
    let largest = 0;
    for (const value of levels.values) largest = Math.max(largest, value);
    return largest;
  }
  return levels.end === null ? undefined : Math.max(levels.start, levels.end);
}
