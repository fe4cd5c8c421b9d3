import { ProtocolError } from "../transport/failure.ts";

/**
 * Reads servers' answers field by field. Written by hand, not with schemas: it stands between the start of a run and its first request,
 * and at every edge of a window. On that way loops stand for `map`, `find` and the like everywhere: in Bun's executable each of those is
 * compiled from source at its first call, which takes longer than all this code.
 */

/** An object of an answer, and where in the answer it stands. */
export class AnswerObject {
  private readonly fields: Readonly<Record<string, unknown>>;
  private readonly path: string;

  private constructor(fields: Readonly<Record<string, unknown>>, path: string) {
    this.fields = fields;
    this.path = path;
  }

  /** @param what names the answer in errors. Throws {@link ProtocolError} when it is not an object. */
  static of(value: unknown, what: string): AnswerObject {
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return new AnswerObject(value as Record<string, unknown>, what);
    throw new ProtocolError(`${what} is not an object`);
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

  /** A number; 0 when absent, since gRPC leaves zeros out. */
  number(name: string): number {
    const value = this.fields[name] ?? 0;
    if (typeof value === "number") return value;
    throw this.unexpected(name, "a number");
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

  numbers(name: string): number[] {
    const list = this.list(name);
    for (const item of list) if (typeof item !== "number") throw this.unexpected(name, "a list of numbers");
    return list as number[];
  }

  private list(name: string): unknown[] {
    const value = this.fields[name] ?? [];
    if (Array.isArray(value)) return value as unknown[];
    throw this.unexpected(name, "a list");
  }

  private unexpected(name: string, expected: string): ProtocolError {
    return new ProtocolError(`${this.path}.${name} is ${JSON.stringify(this.fields[name])}, expected ${expected}`);
  }
}
