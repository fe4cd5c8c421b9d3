import { formatRunError, RunError, UserError, wordError } from "../plan/problem.ts";
import type { TextSink } from "../report/report.ts";
import { EXIT, exitCodeOf } from "../result/exit-codes.ts";
import { printProblems } from "./flags.ts";

/**
 * Runs one of Rampart's own commands. Converts errors that a user can fix, and an unreachable target, to text and an exit code.
 * @param command the command as it was called
 */
export async function explainErrors(command: string, io: TextSink, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (thrown) {
    const error = wordError(thrown, io.nameOf);
    if (error instanceof UserError) {
      printProblems(error, command, io);
      return EXIT.usage;
    }
    if (error instanceof RunError) {
      io.err(`rampart: ${formatRunError(error)}\n`);
      return exitCodeOf(error.code);
    }
    throw error;
  }
}
