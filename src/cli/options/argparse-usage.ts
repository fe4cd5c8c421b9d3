import type { ArgparseOption } from "./argparse.ts";

/** Width of usage and help, in columns. */
export const USAGE_WIDTH = 98;
const PREFIX = "usage: ";

/** Formats the usage like argparse, with a final newline and without Rampart's own options. @param positional is last */
export function formatArgparseUsage(
  prog: string,
  options: readonly ArgparseOption[],
  positional: readonly string[],
): string {
  const parts = usageParts(options.filter(({ isRampart }) => isRampart !== true));
  const whole = [prog, ...parts, ...positional].join(" ");
  if (PREFIX.length + whole.length <= USAGE_WIDTH) return `${PREFIX}${whole}\n`;
  const indent = " ".repeat(PREFIX.length + prog.length + 1);
  const [first = "", ...others] = fill([prog, ...parts], PREFIX.length, indent.length);
  const lines = [`${PREFIX}${first}`, ...others.map((line) => indent + line)];
  if (positional.length > 0) lines.push(indent + positional.join(" "));
  return `${lines.join("\n")}\n`;
}

/** Formats an option's value for usage and help, with a leading space; empty for a switch. */
export function formatValue(option: ArgparseOption): string {
  const name = valueNameOf(option);
  if (option.count === "switch") return "";
  if (option.count === "some") return ` ${name} [${name} ...]`;
  if (option.count === "any") return ` [${name} ...]`;
  return ` ${name}`;
}

function valueNameOf({ names, value, choices }: ArgparseOption): string {
  if (choices !== undefined) return `{${choices.join(",")}}`;
  const long = names.find((name) => name.startsWith("--")) ?? names[0];
  return value ?? long.replace(/^-+/, "").replaceAll("-", "_").toUpperCase();
}

/** Returns one part for each option. Options that exclude each other share a part if they are all adjacent. */
function usageParts(options: readonly ArgparseOption[]): string[] {
  const parts: string[] = [];
  let together: ArgparseOption | undefined;
  for (const [index, option] of options.entries()) {
    const text = `${option.names[0]}${formatValue(option)}`;
    if (option.isRequired === true) parts.push(...text.split(" "));
    else if (together !== undefined && together === options[index - 1])
      parts.push(`${(parts.pop() as string).slice(0, -1)} | ${text}]`);
    else parts.push(`[${text}]`);
    together = isAdjacent(options, option) ? option : undefined;
  }
  return parts;
}

/** Reports whether the options that this one excludes directly precede or follow it, and at least one follows. */
function isAdjacent(options: readonly ArgparseOption[], option: ArgparseOption): boolean {
  if (option.excludes === undefined) return false;
  const places = options.flatMap((one, index) => (one.excludes === option.excludes ? [index] : []));
  const first = places[0] as number;
  const last = places.at(-1) as number;
  return last - first === places.length - 1 && options.indexOf(option) < last;
}

function fill(parts: readonly string[], firstIndent: number, indent: number): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  let length = firstIndent - 1;
  for (const part of parts) {
    if (length + 1 + part.length > USAGE_WIDTH && line.length > 0) {
      lines.push(line.join(" "));
      line = [];
      length = indent - 1;
    }
    line.push(part);
    length += part.length + 1;
  }
  if (line.length > 0) lines.push(line.join(" "));
  return lines;
}
