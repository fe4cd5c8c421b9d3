/** Values from outside as error messages show them. */

const MAX_CHARACTERS = 80;
const MAX_DEPTH = 4;
const MAX_ITEMS = 8;

/**
 * A value as JSON on one line of at most 80 characters, cut with `…` where it is longer or deeper. Never throws, also not for
 * JSON nested 100,000 deep, bigints, cycles and getters that throw. An undefined value is shown as `nothing`.
 */
export function showValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "symbol") return String(value);
  let text: string;
  try {
    text = JSON.stringify(prune(value, 0)) ?? String(value);
  } catch {
    text = typeof value;
  }
  return shorten(text);
}

/** A value as JSON, whole; as {@link showValue} has it where it is nested too deep to be written. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return showValue(value);
  }
}

/** Text of at most 80 characters, cut with `…`. */
export function shorten(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS - 1)}…`;
}

/** A copy that is small enough to be written out. */
function prune(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value.slice(0, 2 * MAX_CHARACTERS);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint" || typeof value === "symbol") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => prune(item, depth + 1));
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(entries.map(([key, item]) => [key, prune(item, depth + 1)]));
}
