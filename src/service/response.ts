import { isObject } from "../plan/objects.ts";
import { RunError } from "../plan/problem.ts";
import { showValue } from "../plan/show-value.ts";

/**
 * Reads servers' responses field by field. Written by hand instead of with schemas, because it runs between the start of a run and its
 * first request, and at every edge of a window. Uses loops instead of `map`, `find` and the like: Bun's executable compiles each of those
 * from source at its first call, which takes longer than all of this code.
 */

/**
 * Creates the error for a response that violates the protocol.
 * @param message names the field and its response, and its actual and expected value
 */
export function badResponse(message: string): RunError {
  return new RunError(
    "refused",
    message,
    "Check the server and its version: the response does not follow the protocol.",
  );
}

/** Protobuf's JSON mapping writes 64-bit integers as strings. */
const INTEGER_TEXT = /^-?\d{1,20}$/;

/** An object in a response, with its path for errors. Methods throw `RunError` if a field has another type. */
export class ResponseObject {
  private readonly fields: Readonly<Record<string, unknown>>;
  private readonly path: string;

  private constructor(fields: Readonly<Record<string, unknown>>, path: string) {
    this.fields = fields;
    this.path = path;
  }

  /** @param what names the response in errors @throws RunError if it is not an object */
  static of(value: unknown, what: string): ResponseObject {
    if (isObject(value)) return new ResponseObject(value as Record<string, unknown>, what);
    throw badResponse(`${what} is ${showValue(value)}, expected an object`);
  }

  has(name: string): boolean {
    return this.fields[name] !== undefined;
  }

  string(name: string): string {
    const value = this.fields[name];
    if (typeof value === "string") return value;
    throw this.unexpected(name, "a string");
  }

  /** Returns an integer, which may be given as a string; 0 if absent, because gRPC omits zeros. Throws if it is below `least`. */
  integer(name: string, least: number): number {
    const value = toInteger(this.fields[name] ?? 0);
    if (value !== undefined && value >= least) return value;
    throw this.unexpected(name, `an integer of ${least} or more`);
  }

  /** Returns a boolean; false if absent. */
  boolean(name: string): boolean {
    const value = this.fields[name] ?? false;
    if (typeof value === "boolean") return value;
    throw this.unexpected(name, "a boolean");
  }

  /** Returns an object; empty if absent. */
  object(name: string): ResponseObject {
    return ResponseObject.of(this.fields[name] ?? {}, `${this.path}.${name}`);
  }

  /** Returns a list of objects; empty if absent. */
  objects(name: string): ResponseObject[] {
    const objects: ResponseObject[] = [];
    for (const item of this.list(name))
      objects.push(ResponseObject.of(item, `${this.path}.${name}[${objects.length}]`));
    return objects;
  }

  strings(name: string): string[] {
    const list = this.list(name);
    for (const item of list) if (typeof item !== "string") throw this.unexpected(name, "a list of strings");
    return list as string[];
  }

  /** Returns a list of integers of at least `least`, which may be given as strings; empty if absent. */
  integers(name: string, least: number): number[] {
    const integers: number[] = [];
    for (const item of this.list(name)) {
      const value = toInteger(item);
      if (value === undefined || value < least)
        throw badResponse(`${this.path}.${name} has ${showValue(item)}, expected integers of ${least} or more`);
      integers.push(value);
    }
    return integers;
  }

  private list(name: string): unknown[] {
    const value = this.fields[name] ?? [];
    if (Array.isArray(value)) return value as unknown[];
    throw this.unexpected(name, "a list");
  }

  private unexpected(name: string, expected: string): RunError {
    return badResponse(`${this.path}.${name} is ${showValue(this.fields[name])}, expected ${expected}`);
  }
}

/** Converts a counter, which is rounded above 2^53. Returns undefined for anything but a finite integer. */
function toInteger(value: unknown): number | undefined {
  const number = typeof value === "string" && INTEGER_TEXT.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) ? number : undefined;
}
