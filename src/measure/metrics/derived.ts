import type { DerivedValue } from "../../plan/assertions.ts";
import { functionOf } from "../../plan/functions.ts";
import type { Text } from "../../plan/messages.ts";
import { messageOf, UserError } from "../../plan/problem.ts";
import { parseResponseQuery } from "../../service/response-query.ts";
import { describeUserError } from "../../service/user-defined/user-error.ts";

/** Metrics that a scenario computes from other metrics of a level. */

/** Result of reading a metric of a level: a value, statistics by name such as `p99`, or the reason why there is none. */
export type LevelRead =
  | { readonly value: number }
  | { readonly statistic: (name: string) => number | undefined }
  | { readonly missing: string };

/** Reads a metric of a level, in SI units: times in seconds. */
export interface ReadLevel {
  /** Returns the existing key that is most similar to an unknown name. */
  nearest(name: string): string | undefined;
  /** Reads a metric by its key; undefined if the key does not exist. @param name only for `extracted`: name of the value */
  read(key: string, name?: string): LevelRead | undefined;
}

/** A derived metric at a level: its value, the reason why it has none, or an error of its function. */
export interface Derived {
  readonly value?: number;
  readonly missing?: string;
  readonly error?: string;
  /** Set if the error is an unknown name. */
  readonly unknown?: Unknown;
}

/** An unknown name, and the name that was probably meant, if there is one. */
interface Unknown {
  readonly message: string;
  readonly near: string | undefined;
  readonly error: Error;
}

/** Computes a metric. Never throws. */
export function computeDerived(value: DerivedValue, level: ReadLevel): Derived {
  let missing: string | undefined;
  let unknown: Unknown | undefined;
  const values = valuesOf(level, {
    onMissing: (reason) => {
      missing ??= reason;
    },
    onUnknown: (found) => {
      unknown ??= found;
    },
  });
  try {
    const found: unknown =
      typeof value === "string"
        ? parseResponseQuery(value, "derive").find(values)
        : functionOf<(level: object) => unknown>(value)(values);
    if (typeof found === "number" && Number.isFinite(found)) return { value: found };
    if (unknown !== undefined) return { error: describeUnknown(value, unknown), unknown };
    if (missing !== undefined) return { missing };
    if (typeof found === "number" && !Number.isNaN(found)) return { missing: `it is ${found} here` };
    // An expression is checked before the run, so only the values of a level can cause it to have no value, for example by a
    // division by zero.
    if (typeof value === "string") return { missing: `it gives ${describeValue(found)} here, not a finite number` };
    return { error: `returns ${describeValue(found)}, not a finite number` };
  } catch (error) {
    if (unknown !== undefined) return { error: describeUnknown(value, unknown), unknown };
    return missing === undefined ? { error: `throws: ${describeUserError(error)}` } : { missing };
  }
}

/** An expression has no line number. */
function describeUnknown(value: DerivedValue, { error }: Unknown): string {
  return typeof value === "string" ? error.message : describeUserError(error);
}

interface ReadEvents {
  /** Receives the reason why a metric has no value. */
  onMissing(reason: string): void;
  /** Receives the name of a metric or statistic that does not exist. An error is thrown afterwards. */
  onUnknown(unknown: Unknown): void;
}

/** Creates the object that functions and expressions read: the metrics of a level by key. */
function valuesOf({ nearest, read }: ReadLevel, { onMissing, onUnknown }: ReadEvents): object {
  const refuse = (message: string, near?: string): never => {
    const error = new Error(near === undefined ? message : `${message}: did you mean ${near}?`);
    onUnknown({ message, near, error });
    throw error;
  };
  const get = (key: string, name?: string): unknown => {
    const place = name === undefined ? key : `${key}.${name}`;
    const found = read(key, name);
    if (found === undefined)
      return refuse(`there is no metric ${place}`, name === undefined ? nearest(key) : undefined);
    if ("value" in found) return found.value;
    if ("statistic" in found)
      return byName((one) => found.statistic(one) ?? refuse(`${place} has no statistic ${one}, such as ${place}.mean`));
    const reason = `${place}: ${found.missing}`;
    onMissing(reason);
    throw new Error(reason);
  };
  const extracted = byName((name) => get("extracted", name));
  return byName((key) => (key === "extracted" ? extracted : get(key)));
}

/** Creates an object whose properties are computed when they are read. */
function byName(get: (name: string) => unknown): object {
  // Runtimes read these properties themselves, for example to print an object or convert it to a number.
  const isOfLanguage = (name: string | symbol): boolean =>
    typeof name === "symbol" || name === "toJSON" || name in Object.prototype;
  const read = (target: object, name: string | symbol): unknown => {
    if (isOfLanguage(name)) return Reflect.get(target, name) as unknown;
    try {
      return get(name as string);
    } catch (error) {
      // The stack begins at the line of the user's function that reads the property.
      if (error instanceof Error) Error.captureStackTrace(error, read);
      throw error;
    }
  };
  return new Proxy({}, { get: read });
}

function describeValue(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number") return String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Promise) {
    value.catch(() => {});
    return "a promise";
  }
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}

const FUNCTION_HINT = "Write metrics by their keys, such as level.throughput or level.latency.p99.";
const HINT = "Write metrics by their keys and numbers in backticks, such as outputTokensPerSec / gpuPower.mean.";

/**
 * Returns the error of a derived value: a name that no metric has, and for an expression its syntax or a result that is not a
 * number; undefined if it is valid. A function may reject the numbers of the example, so its other errors are ignored.
 */
export function explainDerived(
  value: DerivedValue,
  level: ReadLevel,
): { readonly message: Text; readonly hint: Text } | undefined {
  const isExpression = typeof value === "string";
  try {
    if (isExpression) parseResponseQuery(value, "derive", HINT);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const [found] = error.problems;
    return { message: found?.message ?? messageOf(error), hint: found?.hint ?? HINT };
  }
  const { error, missing, unknown } = computeDerived(value, level);
  const usual = isExpression ? HINT : FUNCTION_HINT;
  if (unknown !== undefined)
    return { message: unknown.message, hint: unknown.near === undefined ? usual : `Did you mean ${unknown.near}?` };
  const message = isExpression ? (error ?? missing) : undefined;
  return message === undefined ? undefined : { message, hint: usual };
}
