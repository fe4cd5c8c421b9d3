import { messageOf, RunError, UserError } from "../../plan/problem.ts";
import { writeOutput } from "../../report/output-file.ts";
import { type Field, type FieldGroup, isGroup } from "./options/field.ts";
import { FIELDS } from "./options/fields.ts";
import { defaultSettings, type GenaiSettings, getSetting, type Stimulus } from "./options/settings.ts";

/** The YAML file of `create-template`: every option with its default, in the original's layout. */

/** The file's text. @param isVerbose adds a comment to every key, and Rampart's own options */
export function formatTemplate(isVerbose: boolean): string {
  return formatGroup("", FIELDS, 0, isVerbose);
}

/** Writes the file. Throws a UserError when it exists already, and a RunError when it can not be written. */
export function writeTemplate(path: string, isVerbose: boolean): void {
  try {
    writeOutput(path, formatTemplate(isVerbose), { isNew: true });
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST")
      throw new RunError("output", `${path} can not be written: ${messageOf(error)}`, "Give another path with -f.");
    const message = `File '${path}' already exists. Please specify a different filename.`;
    throw new UserError([{ path: "-f", message, hint: "Give another name with -f, or remove the file." }]);
  }
}

/** A key's values first, then what lies deeper; an empty line ends each part, as in the original. */
function formatGroup(key: string, entries: readonly (Field | FieldGroup)[], level: number, isVerbose: boolean): string {
  const indent = "  ".repeat(level);
  const settings = defaultSettings();
  const isTop = level === 0;
  const fields = entries.filter((entry) => !isGroup(entry) && !(isTop && entry.isCommented === true));
  const deeper = entries.filter((entry) => isGroup(entry) || (isTop && entry.isCommented === true));
  const head = key === "" ? "" : `${indent}${key}:\n`;
  const own = fields.map((entry) => formatField(entry as Field, settings, indent, isVerbose)).join("");
  const below = deeper.map((entry) => {
    if (!isGroup(entry)) return `${indent}  ${entry.key}:\n${formatField(entry, settings, `${indent}  `, isVerbose)}\n`;
    return entry.isOwn === true && !isVerbose ? "" : formatGroup(entry.key, entry.entries, level + 1, isVerbose);
  });
  return `${head}${own}\n${below.join("")}`;
}

function formatField(field: Field, settings: GenaiSettings, indent: string, isVerbose: boolean): string {
  const comment = isVerbose ? (field.about ?? field.note) : field.note;
  const shown = field.isCommented === true ? field.note : comment;
  const lines =
    shown === undefined
      ? ""
      : shown
          .split("\n")
          .map((line) => `${indent}  # ${line}\n`)
          .join("");
  if (field.isCommented === true) return lines;
  const gap = isVerbose && field.about !== undefined ? "\n" : "";
  return `${lines}${indent}  ${field.key}: ${formatValue(field, getSetting(settings, field.at))}\n${gap}`;
}

/** As Python prints it: `True`, `{'concurrency': 1}`, lists with commas. */
function formatValue(field: Field, value: unknown): string {
  if (field.kind === "stimulus") return `{'concurrency': ${(value as Stimulus & { requests: number }).requests}}`;
  if (value === null) return "";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return value.join(", ");
  return field.at === "input.sessions.turnDelay.ratio" ? "1.0" : String(value);
}
