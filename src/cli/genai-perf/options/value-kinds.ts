import { isObject } from "../../../plan/objects.ts";
import { fileSystem } from "../../../runtime/files.ts";
import type { ValueCount } from "../../options/argparse.ts";
import { type Fault, type Notation, readNotation } from "../../options/shared-option.ts";
import { parseDecimal, parseInteger } from "./numbers.ts";

interface Kind {
  /** Number of arguments of the flag. Default: one. */
  readonly count?: ValueCount;
  /** Reads one command-line argument. Absent if the value is the argument itself. */
  readonly readWord?: (word: string) => string | number | Fault;
  /** Converts a value of a YAML file; undefined if it is invalid. */
  readonly readYaml: (value: unknown) => unknown;
  /** Description of a valid value in a YAML file, for hints. */
  readonly expected: string;
}

const DECIMAL = {
  readWord: (word: string) => parseDecimal(word) ?? { message: notA("float", word), hint: "Give a number." },
  isGood: Number.isFinite,
};
const INTEGER = {
  readWord: (word: string) => parseInteger(word) ?? { message: notA("int", word), hint: "Give a whole number." },
  isGood: Number.isSafeInteger,
};

/**
 * All kinds of option values, and how each is read from a command line and from a YAML file. `positive` is an integer above 0. `file` must
 * exist unless it starts with `synthetic:` or `payload`.
 */
export const VALUE_KINDS = table({
  text: { readYaml: toText, expected: "a text" },
  path: { readYaml: toText, expected: "a path" },
  file: { readWord: readFile, readYaml: toText, expected: "a path, synthetic:… or payload:…" },
  boolean: { count: "switch", readYaml: only((value) => typeof value === "boolean"), expected: "true or false" },
  integer: { readWord: INTEGER.readWord, readYaml: only(INTEGER.isGood), expected: "a whole number" },
  positive: { readWord: readPositive, readYaml: only(INTEGER.isGood), expected: "a whole number" },
  decimal: { readWord: DECIMAL.readWord, readYaml: only(DECIMAL.isGood), expected: "a number" },
  duration: { ...notated("duration"), expected: "a duration with its unit, such as 10s" },
  percent: { ...notated("percent"), expected: "a percentage with its sign, such as 1%" },
  texts: { count: "some", readYaml: (value) => toList(splitText(value), toText), expected: "a string or list" },
  integers: {
    count: "any",
    readWord: INTEGER.readWord,
    readYaml: (value) => toList(splitText(value), toNumber(INTEGER.isGood)),
    expected: "a whole number or a list of them",
  },
  decimals: {
    count: "any",
    readWord: DECIMAL.readWord,
    readYaml: (value) => toList(splitText(value), toNumber(DECIMAL.isGood)),
    expected: "a number or a list of them",
  },
  object: { readYaml: only(isObject), expected: "keys with values, such as {temperature: 0.7}" },
  limits: {
    count: "some",
    readYaml: only((value) => isObject(value) && Object.values(value).every((limit) => isNumberFrom(limit, 0))),
    expected: "metrics with limits, such as {request_latency: 300}",
  },
  headers: { readYaml: (value) => toList(value, toText), expected: "a list of Name:Value" },
  stimulus: {
    readYaml: (value) => (typeof value === "string" ? { [value]: null } : only(isObject)(value)),
    expected: "one of concurrency, request_rate or session_concurrency with a number, or fixed_schedule",
  },
  sweeps: { readYaml: only(isObject), expected: "what to vary, such as {concurrency: {start: 1, stop: 64}}" },
});

/** The name of a kind. */
export type ValueKind = keyof typeof VALUE_KINDS;

function table<const Name extends string>(kinds: Record<Name, Kind>): Readonly<Record<Name, Kind>> {
  return kinds;
}

/** Reports whether a value of `--input-file` is valid: an existing path, or a prefix that needs no path. */
export function isFileOrFolder(text: string): boolean {
  if (text.startsWith("synthetic:") || text.startsWith("payload")) return true;
  const path = /^(?:conversations|trace):(.*)$/s.exec(text)?.[1] ?? text;
  return fileSystem().existsSync(path);
}

/** Reports whether a value is a finite number that is at least `min`. */
export function isNumberFrom(value: unknown, min: number): boolean {
  return Number.isFinite(value) && (value as number) >= min;
}

/** Quotes a user's text like Python's `repr`. */
export function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark;
}

/** Returns the readers of a notation that all commands of Rampart share. The setting is the text. */
function notated(kind: Notation): Pick<Kind, "readWord" | "readYaml"> {
  const isGood = (text: string): boolean => typeof readNotation(kind, text) === "number";
  return {
    readWord: (word) => {
      const read = readNotation(kind, word);
      return typeof read === "number" ? word : { message: `the value ${read.message}`, hint: read.hint };
    },
    readYaml: (value) => only((text) => text !== undefined && isGood(text as string))(toText(value)),
  };
}

function notA(type: string, word: string): string {
  return `invalid ${type} value: ${quote(word)}`;
}

function readPositive(word: string): number | Fault {
  const value = parseInteger(word);
  if (value === undefined) return { message: "The value must be an integer.", hint: "Give a whole number." };
  return value > 0 ? value : { message: "The value must be greater than zero.", hint: "Give 1 or more." };
}

function readFile(word: string): string | Fault {
  return isFileOrFolder(word)
    ? word
    : { message: notA("file_or_directory", word), hint: "Give an existing file or folder." };
}

function toText(value: unknown): string | undefined {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : undefined;
}

function only(isGood: (value: unknown) => boolean): (value: unknown) => unknown {
  return (value) => (isGood(value) ? value : undefined);
}

/** In lists, numbers may be strings. */
function toNumber(isGood: (value: unknown) => boolean): (value: unknown) => number | undefined {
  return (value) => {
    const number = typeof value === "string" ? parseDecimal(value) : value;
    return isGood(number) ? (number as number) : undefined;
  };
}

function splitText(value: unknown): unknown {
  return typeof value === "string" ? value.split(",").map((part) => part.trim()) : value;
}

/** Converts a list, or one value, item by item; undefined if any item is invalid. */
function toList<T>(value: unknown, convert: (item: unknown) => T | undefined): T[] | undefined {
  const items = (Array.isArray(value) ? value : [value]).map(convert);
  return items.includes(undefined) ? undefined : (items as T[]);
}
