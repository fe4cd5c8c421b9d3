import { parseOutsideJson } from "../plan/document/json-depth.ts";

/**
 * JSON that is sent exactly as written. `JSON.parse` and `JSON.stringify` round long integers, print `1.0` as `1` and `1e400` as `null`,
 * and move keys that look like integers to the front. The functions here keep such values as text.
 */

/** Prefix of keys that look like integers, which objects would move to the front. Random per process, so that no input contains it. */
const KEY_MARK = `rampart-json-key-${crypto.randomUUID()}:`;

/** A JSON number that JavaScript would print differently. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** `JSON.stringify` prints the text as it is. */
  toJSON(): unknown {
    return rawJson(this.text);
  }
}

/** Makes `JSON.stringify` print a number as this text (ECMAScript 2026, not yet in TypeScript's library). */
export const rawJson = (JSON as typeof JSON & { readonly rawJSON: (text: string) => unknown }).rawJSON;

/**
 * Matches text that may print differently, even if only within a string: exponents, long numbers, trailing zeros of fractions, `-0`, tiny
 * fractions, and keys that look like integers. Most payloads have none of these and are parsed natively.
 */
const MAY_CHANGE = /\d[eE]|\d[\d.]{15}|\.\d*0(?!\d)|-0(?![.\d])|0\.00000|"\d+"\s*:/;

/**
 * Parses JSON so that {@link formatJson} prints it as written. Numbers that JavaScript would print differently become {@link JsonNumber};
 * keys that look like integers get a prefix, which keeps them in place ({@link plainKey} removes it).
 * @throws SyntaxError for text that is not JSON or is nested too deeply
 */
export function parseJson(text: string): unknown {
  const value = parseOutsideJson(text);
  return MAY_CHANGE.test(text) ? new ExactReader(text).value() : value;
}

/**
 * Prints a value like `JSON.stringify`, but values that {@link parseJson} kept are printed as written.
 * @param indent number of spaces per level; default: 0, compact
 */
export function formatJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent) ?? "null";
  return text.includes(KEY_MARK) ? text.replaceAll(KEY_MARK, "") : text;
}

/** Removes white space from JSON. Keeps numbers and the order of keys as written, and prints strings like `JSON.stringify`. */
export function compactJson(text: string): string {
  return formatJson(parseJson(text));
}

/** Returns a key of an object from {@link parseJson} as written. */
export function plainKey(key: string): string {
  return key.startsWith(KEY_MARK) ? key.slice(KEY_MARK.length) : key;
}

/** Returns the key that keeps an entry in place for {@link formatJson}. */
export function orderedKey(key: string): string {
  return INTEGER_KEY.test(key) ? KEY_MARK + key : key;
}

/** Converts a number from {@link parseJson}, or a list of them, to JavaScript numbers, which may round. Returns other values unchanged. */
export function toPlainNumber(value: unknown): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  return Array.isArray(value) ? value.map(toPlainNumber) : value;
}

const TOKEN = /\s*([{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+)/y;
const INTEGER_KEY = /^(?:0|[1-9]\d{0,9})$/;

/** Reads valid JSON of limited depth, value by value. */
class ExactReader {
  private readonly text: string;
  private position = 0;

  constructor(text: string) {
    this.text = text;
  }

  value(token = this.next()): unknown {
    if (token === "{") return this.object();
    if (token === "[") return this.array();
    const value: unknown = JSON.parse(token);
    return typeof value === "number" && JSON.stringify(value) !== token ? new JsonNumber(token) : value;
  }

  private array(): unknown[] {
    const items: unknown[] = [];
    for (let token = this.next(); token !== "]"; token = this.next()) if (token !== ",") items.push(this.value(token));
    return items;
  }

  private object(): Record<string, unknown> {
    const members = new Map<string, unknown>();
    for (let token = this.next(); token !== "}"; token = this.next()) {
      if (token === ",") continue;
      this.next(); // the colon
      members.set(orderedKey(JSON.parse(token) as string), this.value());
    }
    return Object.fromEntries(members);
  }

  private next(): string {
    TOKEN.lastIndex = this.position;
    const match = TOKEN.exec(this.text);
    if (match === null) throw new SyntaxError("JSON ends too early");
    this.position = TOKEN.lastIndex;
    return match[1] as string;
  }
}
