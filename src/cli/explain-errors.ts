import { formatRunError, RunError, UserError, wordError } from "../plan/problem.ts";
import type { TextSink } from "../report/report.ts";
import { EXIT, exitCodeOf } from "../result/exit-codes.ts";
import { type FlagValues, parseFlags, printProblems } from "./flags.ts";
import { type HelpPage, printsHelp } from "./help/page.ts";

/**
 * Runs one of Rampart's own commands. Converts errors that a user can fix, and an unreachable target, to text and an exit code. Errors name
 * flags as the user wrote them.
 * @param command the command as it was called
 * @param body receives the parser of its flags
 * @param given flags that were already parsed
 */
export async function explainErrors(
  command: string,
  io: TextSink,
  body: (parse: typeof parseFlags) => Promise<number>,
  given?: FlagValues,
): Promise<number> {
  let flags = given;
  try {
    return await body((...args) => {
      flags = parseFlags(...args);
      return flags;
    });
  } catch (thrown) {
    const error = wordError(thrown, io.nameOf);
    if (error instanceof UserError) {
      printProblems(error, command, flags, io);
      return EXIT.usage;
    }
    if (error instanceof RunError) {
      io.err(`rampart: ${formatRunError(error)}\n`);
      return exitCodeOf(error.code);
    }
    throw error;
  }
}

/** A command as it was called. */
interface CalledCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Maximum number of positional arguments. */
  readonly most: number;
  /** Its help, with its flags. */
  readonly page: HelpPage;
}

/** Runs a command with its flags, or prints its help if requested. Errors are handled as in {@link explainErrors}. */
export function runWithFlags(
  { command, args, most, page }: CalledCommand,
  io: TextSink,
  body: (flags: FlagValues) => Promise<number>,
): Promise<number> {
  return explainErrors(command, io, async (parse) => {
    const flags = parse(page.flags, args, most);
    return printsHelp(flags, page, io) ? EXIT.passed : body(flags);
  });
}
