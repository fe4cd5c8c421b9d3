import { RunError } from "../plan/problem.ts";
import { showValue } from "../plan/show-value.ts";

/**
 * Reads servers' answers field by field. Written by hand, not with schemas: it stands between the start of a run and its first request,
 * and at every edge of a window. On that way loops stand for `map`, `find` and the like everywhere: in Bun's executable each of those is
 * compiled from source at its first call, which takes longer than all this code.
 */

/** An answer that is not what the protocol says. @param message which field of which answer it is, what it holds, and what it should hold */
export function badAnswer(message: string): RunError {
  return new RunError("refused", message, "Check the server and its version: the answer does not follow KServe v2.");
}

/** Protobuf's JSON mapping writes 64-bit integers as text. */
const INTEGER_TEXT = /^-?\d{1,20}$/;

/** An object of an answer, and where in the answer it stands. Its methods throw a `RunError` for a field that is not what they read. */
export class AnswerObject {
  private readonly fields: Readonly<Record<string, unknown>>;
  private readonly path: string;

  private constructor(fields: Readonly<Record<string, unknown>>, path: string) {
    this.fields = fields;
    this.path = path;
  }

  /** @param what names the answer in errors. Throws `RunError` when it is not an object. */
  static of(value: unknown, what: string): AnswerObject {
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return new AnswerObject(value as Record<string, unknown>, what);
    throw badAnswer(`${what} is ${showValue(value)}, expected an object`);
  }

  has(name: string): boolean {
    return this.fields[name] !== undefined;
  }

  /** A string that must be there. */
  string(name: string): string {
    const value = this.fields[name];
    if (typeof value === "string") return value;
    throw this.unexpected(name, "a string");
  }

  /** An integer of at least `least`, also as text; 0 when absent, since gRPC leaves zeros out. */
  integer(name: string, least: number): number {
    const value = toInteger(this.fields[name] ?? 0);
    if (value !== undefined && value >= least) return value;
    throw this.unexpected(name, `an integer of ${least} or more`);
  }

  /** A boolean; false when absent. */
  boolean(name: string): boolean {
    const value = this.fields[name] ?? false;
    if (typeof value === "boolean") return value;
    throw this.unexpected(name, "a boolean");
  }

  /** An object; an empty one when absent. */
  object(name: string): AnswerObject {
    return AnswerObject.of(this.fields[name] ?? {}, `${this.path}.${name}`);
  }

  /** A list of objects; empty when absent. */
  objects(name: string): AnswerObject[] {
    const objects: AnswerObject[] = [];
    for (const item of this.list(name)) objects.push(AnswerObject.of(item, `${this.path}.${name}[${objects.length}]`));
    return objects;
  }

  strings(name: string): string[] {
    const list = this.list(name);
    for (const item of list) if (typeof item !== "string") throw this.unexpected(name, "a list of strings");
    return list as string[];
  }

  /** A list of integers of at least `least`, also as texts; empty when absent. */
  integers(name: string, least: number): number[] {
    const integers: number[] = [];
    for (const item of this.list(name)) {
      const value = toInteger(item);
      if (value === undefined || value < least)
        throw badAnswer(`${this.path}.${name} has ${showValue(item)}, expected integers of ${least} or more`);
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
    return badAnswer(`${this.path}.${name} is ${showValue(this.fields[name])}, expected ${expected}`);
  }
}

/** Counters may be above 2^53, where they are rounded; what is not a finite whole number is undefined. */
function toInteger(value: unknown): number | undefined {
  const number = typeof value === "string" && INTEGER_TEXT.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) ? number : undefined;
}
