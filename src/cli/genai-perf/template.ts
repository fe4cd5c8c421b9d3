import { messageOf, RunError, userError } from "../../plan/problem.ts";
import { wrapWords } from "../../plan/terminal-text.ts";
import { writeOutput } from "../../report/output-file.ts";
import type { Stimulus } from "./loads.ts";
import { describeOption, type KeyedOption } from "./options/genai-option.ts";
import { flagsOf } from "./options/subcommands.ts";
import { VALUE_KINDS } from "./options/value-kinds.ts";
import { isGroup, RAMPART_KEY, YAML_KEYS, type YamlGroup, type YamlKey } from "./options/yaml-keys.ts";

/** The YAML file of `create-template`: all options with their defaults, in GenAI-Perf's layout. */

const COMMENT_WIDTH = 90;

/** Formats the file. @param isVerbose adds a comment to every key, and Rampart's own options */
export function formatTemplate(isVerbose: boolean): string {
  return formatGroup("", YAML_KEYS, 0, isVerbose);
}

/** Writes the file. Throws a UserError if it already exists, and a RunError if it cannot be written. */
export function writeTemplate(path: string, isVerbose: boolean): void {
  try {
    writeOutput(path, formatTemplate(isVerbose), { isNew: true });
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST")
      throw new RunError("output", `${path} cannot be written: ${messageOf(error)}`, "Give another path with -f.");
    const message = `File '${path}' already exists. Please specify a different filename.`;
    throw userError("overwrite", "-f", message, "Give another name with -f, or remove the file.");
  }
}

/** Formats a key's values, then the keys below it. Each part ends with an empty line, like in GenAI-Perf. */
function formatGroup(
  key: string,
  entries: readonly (YamlKey | YamlGroup)[],
  level: number,
  isVerbose: boolean,
): string {
  const indent = "  ".repeat(level);
  const isBelow = (entry: YamlKey | YamlGroup): boolean =>
    isGroup(entry) || (level === 0 && entry.option.isCommented === true);
  const head = key === "" ? "" : `${indent}${key}:\n`;
  const lines = entries.map((entry) => (isGroup(entry) || isBelow(entry) ? "" : formatKey(entry, indent, isVerbose)));
  const below = entries.filter(isBelow).map((entry) => {
    if (!isGroup(entry)) return `${indent}  ${entry.key}:\n${formatKey(entry, `${indent}  `, isVerbose)}\n`;
    return entry.key === RAMPART_KEY && !isVerbose ? "" : formatGroup(entry.key, entry.entries, level + 1, isVerbose);
  });
  return `${head}${lines.join("")}\n${below.join("")}`;
}

function formatKey({ key, option }: YamlKey, indent: string, isVerbose: boolean): string {
  const { note, isCommented = false } = option;
  const lines = isVerbose && !isCommented ? explain(option) : (note?.split("\n") ?? []);
  const comment = lines.map((line) => `${indent}  # ${line}\n`).join("");
  if (isCommented) return comment;
  return `${comment}${indent}  ${key}: ${formatValue(option)}\n${isVerbose ? "\n" : ""}`;
}

/** Returns the option's help, with the names of keys instead of flags. */
function explain(option: KeyedOption): string[] {
  const { kind, syntax, choices, ownChoices = [], defaultText, default: value } = option;
  const parts = [
    describeOption(option),
    ...(syntax === undefined ? [] : [`Given as ${VALUE_KINDS[kind].expected}.`]),
    ...(choices === undefined ? [] : [`One of ${[...choices, ...ownChoices].join(", ")}.`]),
    ...(defaultText === undefined || (value !== null && value !== "") ? [] : [`Left empty: ${defaultText}.`]),
  ];
  const named = parts.join(" ").replace(/--[a-z-]+/g, (name) => {
    const key = flagsOf("config").find(({ names }) => names.includes(name))?.key;
    return key ?? name.slice(2).replaceAll("-", "_");
  });
  return wrapWords(named, COMMENT_WIDTH);
}

/** Formats a value like Python: `True`, `{'concurrency': 1}`, lists with commas. */
function formatValue({ kind, default: value, isFloat }: KeyedOption): string {
  if (kind === "stimulus") return `{'${(value as Stimulus).kind}': ${(value as Stimulus).value}}`;
  if (value === null) return "";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return value.join(", ");
  return isFloat === true ? (value as number).toFixed(1) : String(value);
}
