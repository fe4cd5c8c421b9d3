import { detectFormat } from "../../inputs/prompts/detect-format.ts";
import {
  DEFAULT_PROMPTS,
  type InputFormat,
  isGenerated,
  type PromptSource,
  parseInputFile,
  traitsOf,
} from "../../inputs/prompts/settings.ts";
import type { RuleSet } from "./rules/rule-set.ts";

/** The input file as the user wrote it, or an empty text, and its format. */
interface InputFile {
  readonly file: string;
  readonly format: InputFormat;
}

/** Returns the source of prompts. A word before a colon takes precedence over a format, which {@link checkInputFormat} then rejects. */
export function sourceOf({ file, format }: InputFile): PromptSource {
  return file === "" ? DEFAULT_PROMPTS.source : parseInputFile(file, hasPrefix(file) ? "auto" : format);
}

/** Reports whether prompts, and sessions with them, are generated. */
export function hasMadeUpPrompts(input: InputFile): boolean {
  return isGenerated(sourceOf(input));
}

/** Reports whether the file contains requests with timestamps. As in GenAI-Perf, these are sent once by default. */
export function isPayloadFile(input: InputFile): boolean {
  return traitsOf(sourceOf(input)).hasTimes === true;
}

/** Reports whether the file can contain sessions. */
export function canHaveSessions(input: InputFile): boolean {
  return traitsOf(sourceOf(input)).canHaveSessions === true;
}

/** Returns the format of a file; `auto` is detected from the file. @throws UserError for an unknown format */
export async function resolveInputFormat({ file, format }: InputFile): Promise<InputFormat> {
  // The trace readers support more headers than there are formats.
  const isOpen = format === "auto" && file !== "" && !hasPrefix(file) && !file.endsWith(".csv");
  return isOpen ? detectFormat(file) : format;
}

/** Checks `--input-format` against the input file. */
export function checkInputFormat(rules: RuleSet): void {
  const { file, format } = rules.input;
  const of = "rampart.input_format";
  if (format === "auto") return;
  const hint = "Add --input-file FILE, or leave it out.";
  rules.refuse(file === "", of, "--input-format needs --input-file", hint);
  const isSame =
    (format === "payload" && file.startsWith("payload:")) ||
    (format === "sharegpt" && file.startsWith("conversations:"));
  const message = `--input-format ${format} contradicts --input-file ${file}`;
  rules.refuse(hasPrefix(file) && !isSame, of, message, "Leave out one, or the word before the colon.");
}

function hasPrefix(file: string): boolean {
  return /^(?:synthetic|payload|conversations|trace):/.test(file);
}
