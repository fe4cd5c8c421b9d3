import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { describeWriteError, messageOf, RunError, userError } from "../../plan/problem.ts";
import { writeOutput } from "../../report/output-file.ts";

/**
 * Writes the file of `--save`: a new scenario that can be run like a script. Its folder is created, and an existing file is kept.
 * @throws UserError if it exists or cannot be written, RunError if the disk is full
 */
export function writeNewScenario(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    // Do not overwrite a file that was created in the meantime.
    writeOutput(file, text, { isNew: true, mode: 0o755 });
  } catch (error) {
    const isDiskFull = ["ENOSPC", "EDQUOT", "EIO"].includes((error as { code?: string }).code ?? "");
    if (isDiskFull) throw new RunError("output", `${file} cannot be written: ${messageOf(error)}`, "Is the disk full?");
    const message = `cannot be written: ${describeWriteError(error)}`;
    throw userError("unwritable", "--save", message, "Choose a file in a folder that can be written.", file);
  }
}
