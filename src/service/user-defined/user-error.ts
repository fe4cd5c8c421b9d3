import { messageOf, UserError, userError } from "../../plan/problem.ts";

/** Place in a file, from the first frame of a stack that has one. */
const FRAME = /(?:\(|@|at |\/)(?:async )?(?:file:\/\/)?([^\s()]+\.[cm]?[jt]sx?)(?:\?[^\s():]*)?:(\d+)(?::\d+)?\)?$/m;

/** Describes an error of a scenario's function: its message and its place in the file, if the runtime reports it. */
export function describeUserError(error: unknown): string {
  const [, file = "", line = ""] = FRAME.exec(stackOf(error)) ?? [];
  const place = file === "" ? "" : ` (${file.slice(file.lastIndexOf("/") + 1)}:${line})`;
  return `${messageOf(error)}${place}`;
}

/** The stack of a user's error may have any type, and may be a getter that throws. */
function stackOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.stack) : "";
  } catch {
    return "";
  }
}

/**
 * Reads a value that a scenario's function returned. Its getters may throw, and JSON has neither bigints nor cycles.
 * @param place name of the function, for errors
 * @throws UserError with the part that cannot be read, and errors of `read`
 */
export function readReturned<T>(place: string, value: unknown, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UserError) throw error;
    const message = `returns a value that cannot be read: ${findUnreadable(value) ?? describeUserError(error)}`;
    throw userError("exception", place, message, "Return plain values.");
  }
}

const MAX_DEPTH = 100;

/**
 * Describes the first part that JSON cannot represent or that cannot be read: `body.id is a bigint`. Undefined if there is
 * none.
 */
function findUnreadable(value: unknown, path = "", parents: readonly object[] = []): string | undefined {
  const place = path || "it";
  if (typeof value === "bigint") return `${place} is a bigint`;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
  if (parents.includes(value)) return `${place} contains itself`;
  if (parents.length === MAX_DEPTH) return `${place} is nested deeper than ${MAX_DEPTH} levels`;
  const inner = [...parents, value];
  let reading = place;
  try {
    for (const key of Object.keys(value)) {
      reading = path === "" ? key : `${path}.${key}`;
      const found = findUnreadable((value as Readonly<Record<string, unknown>>)[key], reading, inner);
      if (found !== undefined) return found;
    }
    return undefined;
  } catch (error) {
    return `reading ${reading} throws: ${describeUserError(error)}`;
  }
}

/**
 * Converts the result of a scenario's function to a value that threads can send and reports can write: a number, a boolean, a text, null,
 * or plain lists and objects of these.
 * @throws TypeError for a promise, and for values without a JSON form
 */
export function toPlainValue(value: unknown): unknown {
  refusePromise(value);
  switch (typeof value) {
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    case "symbol":
    case "function":
      return String(value);
    case "object":
      return value === null ? null : copyPlain(value);
    default:
      return value;
  }
}

function copyPlain(value: object): unknown {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch (error) {
    throw new TypeError(`it returned a value that is not JSON: ${findUnreadable(value) ?? messageOf(error)}`);
  }
}

/** Returns the result of a scenario's function. @throws TypeError for a promise */
export function refusePromise<T>(value: T): T {
  if (value instanceof Promise) {
    value.catch(() => {});
    throw new TypeError("it returned a promise, but it must not be asynchronous");
  }
  return value;
}
