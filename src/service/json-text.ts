import { parseOutsideJson } from "../plan/json-depth.ts";

/**
 * JSON that is sent as it was written. `JSON.parse` and `JSON.stringify` round long integers, print `1.0` as `1` and `1e400` as `null`, and move
 * keys that look like integers to the front. The functions here keep such values as text.
 */

/** Stands before keys that look like integers, which objects would move to the front. No input contains it by chance: it is drawn per process. */
const KEY_MARK = `rampart-json-key-${crypto.randomUUID()}:`;

/** A JSON number that JavaScript would print otherwise. */
export class JsonNumber {
  /** As it was written. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** `JSON.stringify` prints the text as it is. */
  toJSON(): unknown {
    return rawJson(this.text);
  }
}

/** A number by its text, for `JSON.stringify` (ECMAScript 2026; TypeScript's library lacks it yet). */
export const rawJson = (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON;

/**
 * What a text has to contain, perhaps only within a string, to be printed otherwise: exponents, long numbers, zeros at the end of a fraction,
 * `-0`, tiny fractions, and keys that look like integers. Nearly all payloads have none of these, and are parsed natively.
 */
const MAY_CHANGE = /\d[eE]|\d[\d.]{15}|\.\d*0(?!\d)|-0(?![.\d])|0\.00000|"\d+"\s*:/;

/**
 * Parses JSON so that {@link formatJson} prints it as it was written. Numbers that JavaScript would print otherwise come as {@link JsonNumber};
 * keys that look like integers carry a mark, which keeps them in their place ({@link plainKey} removes it).
 * @throws SyntaxError for text that is not JSON, or is nested too deep
 */
export function parseJson(text: string): unknown {
  const value = parseOutsideJson(text);
  return MAY_CHANGE.test(text) ? new ExactReader(text).value() : value;
}

/**
 * Prints a value as `JSON.stringify` does; what {@link parseJson} kept stands as it was written.
 * @param indent number of spaces per level; 0 (the default) for compact JSON
 */
export function formatJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent) ?? "null";
  return text.includes(KEY_MARK) ? text.replaceAll(KEY_MARK, "") : text;
}

/** The same JSON without white space: numbers and the order of keys are as written, strings as `JSON.stringify` prints them. */
export function compactJson(text: string): string {
  return formatJson(parseJson(text));
}

/** A key of an object of {@link parseJson}, as it was written. */
export function plainKey(key: string): string {
  return key.startsWith(KEY_MARK) ? key.slice(KEY_MARK.length) : key;
}

/** The key under which {@link formatJson} keeps an entry in its place. */
export function orderedKey(key: string): string {
  return INTEGER_KEY.test(key) ? KEY_MARK + key : key;
}

/** A number of {@link parseJson}, or a list of them, as JavaScript holds it, perhaps rounded; anything else as it is. */
export function toPlainNumber(value: unknown): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  return Array.isArray(value) ? value.map(toPlainNumber) : value;
}

const TOKEN = /\s*([{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+)/y;
const INTEGER_KEY = /^(?:0|[1-9]\d{0,9})$/;

/** Reads text that is known to be JSON of limited depth, value by value. */
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
