import { detectFormat } from "../../inputs/prompts/detect-format.ts";
import type { Problem } from "../../plan/problem.ts";
import type { GenaiSettings } from "./options/settings.ts";
import type { GivenSettings } from "./options/settings-builder.ts";

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

/** What is wrong with `--input-format` beside the rest. */
export function checkInputFormat({ input, rampart }: GenaiSettings, given: GivenSettings): Problem[] {
  const { inputFormat } = rampart;
  if (inputFormat === "auto") return [];
  const path = given.get("rampart.inputFormat")?.place ?? "--input-format";
  const flag = "--input-format";
  if (input.file === "")
    return [{ path, message: `${flag} needs --input-file`, hint: "Add --input-file FILE, or leave it out." }];
  const isSame =
    (inputFormat === "payload" && input.file.startsWith("payload:")) ||
    (inputFormat === "sharegpt" && input.file.startsWith("conversations:"));
  if (!hasPrefix(input.file) || isSame) return [];
  const message = `${flag} ${inputFormat} contradicts --input-file ${input.file}`;
  return [{ path, message, hint: "Leave out one, or the word before the colon." }];
}

function hasPrefix(file: string): boolean {
  return /^(?:synthetic|payload|conversations):/.test(file);
}
