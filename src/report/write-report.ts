import { dirname } from "node:path";
import type { SettingPath, Text } from "../plan/messages.ts";
import { messageOf, RunError } from "../plan/problem.ts";
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

/** Returns the error of a file that could not be written. Parameters are as in {@link writeReport}. */
export function notWritten(path: string, error: unknown, at: SettingPath): RunError {
  const hint: Text = at.endsWith(".folder") ? { say: "other-folder", at } : { say: "other-file", at };
  return new RunError("output", `${path} cannot be written: ${messageOf(error)}`, hint);
}
