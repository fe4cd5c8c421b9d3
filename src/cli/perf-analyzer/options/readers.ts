import { fileSystem } from "../../../runtime/files.ts";
import type { ValueReader } from "./value-reader.ts";

/** Values that several options have in common. A reader reports what is wrong and returns undefined. */

/** Reads an option's value. */
type Reader<V> = (reader: ValueReader) => V | undefined;

/** A switch that was given. */
export function on(): true {
  return true;
}

/** Any text. */
export function text(reader: ValueReader): string {
  return reader.text;
}

/** A whole number. @param rule the original's words for one that is not allowed */
export function whole(isAllowed: (value: number) => boolean, rule: string, hint: string): Reader<number> {
  return (reader) => allow(reader, reader.integer(), isAllowed, rule, hint);
}

/** A whole number above 0. @param rule the original's words for another one */
export function count(rule = "The value must be > 0."): Reader<number> {
  return whole((value) => value > 0, rule, "Give 1 or more.");
}

/** A decimal number. @param rule the original's words for one that is not allowed */
export function decimal(isAllowed: (value: number) => boolean, rule: string, hint: string): Reader<number> {
  return (reader) => allow(reader, reader.decimal(), isAllowed, rule, hint);
}

function allow(
  reader: ValueReader,
  value: number | undefined,
  isAllowed: (value: number) => boolean,
  rule: string,
  hint: string,
): number | undefined {
  if (value === undefined || isAllowed(value)) return value;
  reader.fail(rule, hint);
  return undefined;
}

/** How a choice differs from the usual. */
interface ChoiceOptions {
  /** The original's words for anything else. Default: they list the choices. */
  readonly rule?: (text: string) => string;
  readonly ignoresCase?: boolean;
}

/** One of several words: the choices for help, and what reads them. */
export function choice<const V extends string>(
  choices: readonly V[],
  {
    rule = (given) => `Unsupported type provided: '${given}'. The available options are ${list(choices)}.`,
    ignoresCase,
  }: ChoiceOptions = {},
): { readonly choices: readonly V[]; readonly parse: Reader<V> } {
  const parse = (reader: ValueReader): V | undefined => {
    const word = ignoresCase === true ? reader.text.toLowerCase() : reader.text;
    const found = choices.find((one) => one === word);
    if (found === undefined) reader.fail(rule(reader.text), giveOneOf(choices));
    return found;
  };
  return { choices, parse };
}

/** `'a', 'b', or 'c'`. */
function list(choices: readonly string[]): string {
  const quoted = choices.map((one) => `'${one}'`);
  return `${quoted.slice(0, -1).join(", ")}${quoted.length > 2 ? "," : ""} or ${quoted.at(-1)}`;
}

/** A hint that names the values to choose from. */
export function giveOneOf(choices: readonly string[]): string {
  return `Give ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}.`;
}

/** The path of an existing file, not of a directory. A wrong path is reported, and kept for the rules between options. */
export function existingFile(rule: string, hint: string): Reader<string> {
  return (reader) => {
    if (!isFile(reader.text)) reader.fail(rule, hint);
    return reader.text;
  };
}

function isFile(path: string): boolean {
  try {
    return fileSystem().statSync(path).isFile();
  } catch {
    return false;
  }
}
