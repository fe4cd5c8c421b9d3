import { detectFormat } from "../../inputs/prompts/detect-format.ts";
import type { GenaiSettings } from "./options/settings.ts";
import type { RuleSet } from "./rules/rule-set.ts";

/** What `--input-file` holds. */

/** Files of requests that came at a time: sent once where nothing else is said, as the original's payload files. */
export function isPayloadFile({ input, rampart }: Pick<GenaiSettings, "input" | "rampart">): boolean {
  if (rampart.inputFormat !== "auto") return ["payload", "azure", "burstgpt"].includes(rampart.inputFormat);
  return /^payload:|\.csv$/.test(input.file);
}

/** The settings with `auto` decided by a look at the file. @throws UserError for a file of no known form */
export async function resolveInputFormat(settings: GenaiSettings): Promise<GenaiSettings> {
  const { input, rampart } = settings;
  const isOpen = rampart.inputFormat === "auto" && input.file !== "" && !hasPrefix(input.file);
  // The readers of traces know more headers than there are formats.
  if (!isOpen || input.file.endsWith(".csv")) return settings;
  return { ...settings, rampart: { ...rampart, inputFormat: await detectFormat(input.file) } };
}

/** Checks `--input-format` beside the input file. */
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

/** Whether prompts are made up, and sessions with them. */
export function hasMadeUpPrompts({ input }: Pick<GenaiSettings, "input">): boolean {
  return input.file === "" || input.file.startsWith("synthetic:");
}

function hasPrefix(file: string): boolean {
  return /^(?:synthetic|payload|conversations):/.test(file);
}
