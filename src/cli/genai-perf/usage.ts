import type { Problem } from "../../plan/problem.ts";
import { destinationOf, type GenaiFlag, SUBCOMMANDS, type SubcommandName } from "./options/flags.ts";
import { HELP_FLAG, TOP_FLAGS } from "./options/parse.ts";
import { flagsOf } from "./options/subcommand-flags.ts";

/** Usage lines and usage errors in argparse's layout. */

/** Columns that usage and help may fill. */
export const WIDTH = 98;
const PREFIX = "usage: ";

/** The usage lines of a subcommand, or of the tool; with a line end. Rampart's own flags are left to the help. */
export function formatUsage(subcommand: SubcommandName | undefined): string {
  const prog = subcommand === undefined ? "genai-perf" : `genai-perf ${subcommand}`;
  const flags = subcommand === undefined ? TOP_FLAGS : [HELP_FLAG, ...flagsOf(subcommand)];
  const parts = usageParts(flags.filter(({ isOwn }) => isOwn !== true));
  const positional = subcommand === undefined ? [`{${SUBCOMMANDS.join(",")}}`, "..."] : [];
  const whole = [prog, ...parts, ...positional].join(" ");
  if (PREFIX.length + whole.length <= WIDTH) return `${PREFIX}${whole}\n`;
  const indent = " ".repeat(PREFIX.length + prog.length + 1);
  const [first = "", ...others] = fill([prog, ...parts], PREFIX.length, indent.length);
  const lines = [`${PREFIX}${first}`, ...others.map((line) => indent + line)];
  if (positional.length > 0) lines.push(indent + positional.join(" "));
  return `${lines.join("\n")}\n`;
}

/** What goes to stderr with exit code 2: usage, then a line for each problem, with its hint. */
export function formatUsageError(subcommand: SubcommandName | undefined, problems: readonly Problem[]): string {
  const prog = subcommand === undefined ? "genai-perf" : `genai-perf ${subcommand}`;
  const lines = problems.flatMap(({ message, hint }) => [`${prog}: error: ${message}`, `  ${hint}`]);
  return `${formatUsage(subcommand)}${lines.join("\n")}\n`;
}

/** How a flag's value stands in usage and help, with a blank before it; empty for a switch. */
export function formatValue(flag: GenaiFlag): string {
  const name = metavarOf(flag);
  if (flag.shape === "switch") return "";
  if (flag.shape === "some") return ` ${name} [${name} ...]`;
  if (flag.shape === "any") return ` [${name} ...]`;
  return ` ${name}`;
}

function metavarOf(flag: GenaiFlag): string {
  if (flag.choices !== undefined) return `{${flag.choices.join(",")}}`;
  return flag.metavar ?? destinationOf(flag).toUpperCase();
}

/** One part for each flag; flags that exclude each other share one when they stand together, all of them. */
function usageParts(flags: readonly GenaiFlag[]): string[] {
  const parts: string[] = [];
  let together: GenaiFlag | undefined;
  for (const [index, flag] of flags.entries()) {
    const text = `${flag.names[0]}${formatValue(flag)}`;
    if (flag.isRequired === true) parts.push(...text.split(" "));
    else if (together !== undefined && together === flags[index - 1])
      parts.push(`${(parts.pop() as string).slice(0, -1)} | ${text}]`);
    else parts.push(`[${text}]`);
    together = isAdjacent(flags, flag) ? flag : undefined;
  }
  return parts;
}

/** Whether the flags that this one excludes all follow it or precede it without a gap, and one follows. */
function isAdjacent(flags: readonly GenaiFlag[], flag: GenaiFlag): boolean {
  if (flag.excludes === undefined) return false;
  const places = flags.flatMap((one, index) => (one.excludes === flag.excludes ? [index] : []));
  const first = places[0] as number;
  const last = places.at(-1) as number;
  return last - first === places.length - 1 && flags.indexOf(flag) < last;
}

function fill(parts: readonly string[], firstIndent: number, indent: number): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  let length = firstIndent - 1;
  for (const part of parts) {
    if (length + 1 + part.length > WIDTH && line.length > 0) {
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
