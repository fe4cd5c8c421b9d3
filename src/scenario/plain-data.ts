import { messageOf, type UserError, userError } from "../plan/problem.ts";

/** Copies the data of a scenario once, so that later checks do not encounter getters, proxies, cycles or endless lists. */

const MAX_ITEMS = 10_000;
const MAX_DEPTH = 100;
const HINT = "Write plain objects and lists in the scenario.";

/**
 * Copies plain objects and lists. Keeps other values, which the schema then rejects.
 * @throws UserError with the path of a value that cannot be read, contains itself, is nested deeper than 100 levels or has more than 10,000
 * items
 */
export function copyPlainData(value: unknown): unknown {
  return copy(value, [], []);
}

function copy(value: unknown, keys: readonly string[], parents: readonly object[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (parents.includes(value)) throw problem(keys, "contains itself", "Write it without the cycle.");
  if (keys.length === MAX_DEPTH)
    throw problem(keys.slice(0, 3), `is nested deeper than ${MAX_DEPTH} levels`, "Write it with fewer levels.");
  let items: readonly (readonly [string, unknown])[] | undefined;
  try {
    items = itemsOf(value);
  } catch (error) {
    throw problem(keys, `reading it throws: ${messageOf(error)}`, HINT);
  }
  if (items === undefined) return value;
  if (items.length > MAX_ITEMS)
    throw problem(keys, `has ${items.length} items, more than ${MAX_ITEMS}`, "Write fewer, or several scenarios.");
  const inner = [...parents, value];
  const copies = items.map(([key, item]) => [key, copy(item, [...keys, key], inner)] as const);
  return Array.isArray(value) ? copies.map(([, item]) => item) : Object.fromEntries(copies);
}

/** Returns the keys and values of a list or a plain object; undefined for anything else, such as a date. */
function itemsOf(value: object): readonly (readonly [string, unknown])[] | undefined {
  if (Array.isArray(value)) return Array.from(value, (item, index) => [String(index), item] as const);
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlain ? Object.entries(value) : undefined;
}

function problem(keys: readonly string[], message: string, hint: string): UserError {
  return userError("invalid-value", keys.join(".") || "the scenario", message, hint);
}

/**
 * Copies the fields of an object once, so that later code does not encounter getters or proxies. The values of the
 * fields are not copied.
 * @throws UserError with the name of a field that cannot be read
 */
export function readFields<T extends object>(given: T): T {
  let reading: string[] = [];
  try {
    const entries = Object.keys(given).map((key) => {
      reading = [key];
      return [key, (given as Readonly<Record<string, unknown>>)[key]] as const;
    });
    return Object.fromEntries(entries) as T;
  } catch (error) {
    throw problem(reading, `reading it throws: ${messageOf(error)}`, HINT);
  }
}
