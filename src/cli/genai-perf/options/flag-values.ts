import type { Problem } from "../../../plan/problem.ts";
import { fileSystem } from "../../../runtime/files.ts";
import { flagName, type GenaiFlag } from "./flags.ts";
import { parseDecimal, parseInteger } from "./numbers.ts";
import type { GivenFlag } from "./parse.ts";

/** Values of single flags, with argparse's errors. */

/** The values as their flag's kind has them, or the first that is none. */
export function readValues({ flag, typed, values }: GivenFlag): {
  readonly values: readonly (string | number)[];
  readonly problem?: Problem;
} {
  const read: (string | number)[] = [];
  for (const text of values) {
    const value = readValue(flag, text);
    if (typeof value === "object") {
      const { message, hint } = value;
      return {
        values: read,
        problem: { path: typed, message: `argument ${flagName(flag)}: ${message}`, value: text, hint },
      };
    }
    read.push(value);
  }
  return { values: read };
}

interface Fault {
  readonly message: string;
  readonly hint: string;
}

function readValue(flag: GenaiFlag, text: string): string | number | Fault {
  const value = convert(flag, text);
  if (typeof value === "object" || flag.choices === undefined || flag.choices.includes(value)) return value;
  const own = flag.ownChoices ?? [];
  if (own.includes(String(value))) return value;
  const quoted = flag.choices.map((choice) => (typeof choice === "string" ? `'${choice}'` : choice)).join(", ");
  return {
    message: `invalid choice: ${typeof value === "string" ? quote(value) : value} (choose from ${quoted})`,
    hint: own.length === 0 ? "Give one of these." : `Give one of these, or of Rampart's own: ${own.join(", ")}.`,
  };
}

function convert(flag: GenaiFlag, text: string): string | number | Fault {
  switch (flag.kind) {
    case "text":
      return text;
    case "integer":
      return parseInteger(text) ?? { message: `invalid int value: ${quote(text)}`, hint: "Give a whole number." };
    case "decimal":
      return parseDecimal(text) ?? { message: `invalid float value: ${quote(text)}`, hint: "Give a number." };
    case "positive":
      return readPositive(text);
    case "file":
      return isFileOrFolder(text)
        ? text
        : { message: `invalid file_or_directory value: ${quote(text)}`, hint: "Give an existing file or folder." };
  }
}

function readPositive(text: string): number | Fault {
  const value = parseInteger(text);
  if (value === undefined) return { message: "The value must be an integer.", hint: "Give a whole number." };
  return value > 0 ? value : { message: "The value must be greater than zero.", hint: "Give 1 or more." };
}

/** Whether a value of `--input-file` can be one: a prefix that stands for no path, or something that exists. */
export function isFileOrFolder(text: string): boolean {
  if (text.startsWith("synthetic:") || text.startsWith("payload")) return true;
  const path = /^(?:conversations|trace):(.*)$/s.exec(text)?.[1] ?? text;
  return fileSystem().existsSync(path);
}

/** Python's `repr` of a text, for what users type. */
function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark;
}
