import { isFile } from "../../../runtime/files.ts";
import type { ValueReader } from "../settings.ts";

/** Readers that several options share. A reader reports problems and returns undefined for them. */

type Reader<V> = (reader: ValueReader) => V | undefined;

/** Reads a switch. */
export function on(): true {
  return true;
}

/** Words that may follow a switch that perf_analyzer's help calls a bool. */
export const BOOL_WORDS: readonly string[] = ["true", "false"];

/** Reads a switch that `true` or `false` may follow. */
export function onOrOff(reader: ValueReader): boolean | undefined {
  if (reader.isAlone || BOOL_WORDS.includes(reader.text)) return reader.text !== "false";
  reader.fail("The value must be either true or false.", giveOneOf(BOOL_WORDS));
  return undefined;
}

/** Reads any text. */
export function text(reader: ValueReader): string {
  return reader.text;
}

/** Hint for the path of an output file. */
export const GIVE_FILE = "Give the path of a file, or leave the option out.";

/** Reads a text that is not empty. @param hint hint on what to give */
export function filled(hint: string): (reader: ValueReader) => string {
  return (reader) => {
    if (reader.text === "") reader.fail("The value must not be empty.", hint, undefined);
    return reader.text;
  };
}

/** Reads an integer. @param rule perf_analyzer's message for an integer that is not allowed */
export function whole(isAllowed: (value: number) => boolean, rule: string, hint: string): Reader<number> {
  return (reader) => allow(reader, reader.integer(), isAllowed, rule, hint);
}

/** Reads an integer above 0. @param rule perf_analyzer's message for any other */
export function count(rule = "The value must be > 0."): Reader<number> {
  return whole((value) => value > 0, rule, "Give 1 or more.");
}

/** Reads a decimal number. @param rule perf_analyzer's message for a number that is not allowed */
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

/** Differences from an ordinary choice. */
interface ChoiceOptions {
  /** perf_analyzer's message for any other value. Default: lists the choices. */
  readonly rule?: (text: string) => string;
  readonly ignoresCase?: boolean;
}

/** Creates an option with fixed choices: the choices for help, and their reader. */
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

/** Formats a list: `'a', 'b', or 'c'`. */
function list(choices: readonly string[]): string {
  const quoted = choices.map((one) => `'${one}'`);
  return `${quoted.slice(0, -1).join(", ")}${quoted.length > 2 ? "," : ""} or ${quoted.at(-1)}`;
}

/** Returns a hint that lists the choices. */
export function giveOneOf(choices: readonly string[]): string {
  return `Give ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}.`;
}

/** Reads the path of an existing file that is not a folder. An invalid path is reported, but kept for the rules between options. */
export function existingFile(rule: string, hint: string): Reader<string> {
  return (reader) => {
    if (!isFile(reader.text)) reader.fail(rule, hint);
    return reader.text;
  };
}
