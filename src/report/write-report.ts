import { dirname } from "node:path";
import type { SettingPath, Text } from "../plan/messages.ts";
import { messageOf, RunError } from "../plan/problem.ts";
import { formatCount } from "../plan/units.ts";
import { fileSystem } from "../runtime/files.ts";
import { writeOutput } from "./output-file.ts";

/**
 * Writes the file of a report.
 * @param at the setting that chooses the file, or its folder, which is then created if needed
 * @param isMasked whether secrets in the text are masked; false for a text without secrets
 * @throws RunError naming the file and the setting
 */
export function writeReport(path: string, text: string, at: SettingPath, isMasked = true): void {
  try {
    if (at.endsWith(".folder")) fileSystem().mkdirSync(dirname(path), { recursive: true });
    writeOutput(path, text, { isMasked });
  } catch (error) {
    throw notWritten(path, error, at);
  }
}

/** Errors after which more may be written when space is freed: the disk, a quota, or the longest file is reached. */
const FULL: Readonly<Record<string, string>> = {
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file is too long for the system",
};

/** Returns the error of a file that could not be written. Parameters are as in {@link writeReport}. */
export function notWritten(path: string, error: unknown, at: SettingPath): RunError {
  const full = whyFull(error);
  return new RunError("output", `${path} cannot be written: ${full ?? messageOf(error)}`, hintFor(at, full));
}

/** Returns the error of a file that ends before its last request. Parameters are as in {@link writeReport}. @param requestCount in the file */
export function cutOff(path: string, error: unknown, at: SettingPath, requestCount: number): RunError {
  const full = whyFull(error);
  const message = `${path} is cut off after ${formatCount(requestCount)} requests, and the later ones are lost: ${full ?? messageOf(error)}`;
  return new RunError("output", message, hintFor(at, full));
}

/** Undefined for errors other than that there is no space. */
function whyFull(error: unknown): string | undefined {
  return FULL[String((error as { readonly code?: unknown } | undefined)?.code)];
}

function hintFor(at: SettingPath, full: string | undefined): Text {
  if (full !== undefined) return { say: "free-space", at };
  return at.endsWith(".folder") ? { say: "other-folder", at } : { say: "other-file", at };
}
