import { detectFormat } from "../../inputs/prompts/detect-format.ts";
import type { GenaiSettings } from "./options/settings.ts";
import type { RuleSet } from "./rules/rule-set.ts";

/**
 * Reports whether the file contains requests with timestamps. Like GenAI-Perf's payload files, these are sent once unless another setting
 * says otherwise.
 */
export function isPayloadFile({ input, rampart }: Pick<GenaiSettings, "input" | "rampart">): boolean {
  if (rampart.inputFormat !== "auto") return ["payload", "azure", "burstgpt"].includes(rampart.inputFormat);
  return /^payload:|\.csv$/.test(input.file);
}

/** Returns the settings with `auto` replaced by the format detected from the file. @throws UserError for an unknown format */
export async function resolveInputFormat(settings: GenaiSettings): Promise<GenaiSettings> {
  const { input, rampart } = settings;
  const isOpen = rampart.inputFormat === "auto" && input.file !== "" && !hasPrefix(input.file);
  // The trace readers support more headers than there are formats.
  if (!isOpen || input.file.endsWith(".csv")) return settings;
  return { ...settings, rampart: { ...rampart, inputFormat: await detectFormat(input.file) } };
}

/** Checks `--input-format` against the input file. */
export function checkInputFormat(rules: RuleSet): void {
  const { input, rampart } = rules.settings;
  const { inputFormat } = rampart;
  const at = "rampart.inputFormat";
  if (inputFormat === "auto") return;
  const hint = "Add --input-file FILE, or leave it out.";
  rules.refuse(input.file === "", at, "--input-format needs --input-file", hint);
  const isSame =
    (inputFormat === "payload" && input.file.startsWith("payload:")) ||
    (inputFormat === "sharegpt" && input.file.startsWith("conversations:"));
  const message = `--input-format ${inputFormat} contradicts --input-file ${input.file}`;
  rules.refuse(hasPrefix(input.file) && !isSame, at, message, "Leave out one, or the word before the colon.");
}

/** Reports whether prompts, and sessions with them, are generated. */
export function hasMadeUpPrompts({ input }: Pick<GenaiSettings, "input">): boolean {
  return input.file === "" || input.file.startsWith("synthetic:");
}

function hasPrefix(file: string): boolean {
  return /^(?:synthetic|payload|conversations):/.test(file);
}
