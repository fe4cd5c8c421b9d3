import type { NameOf } from "../plan/messages.ts";
import { formatRunError, RunError, UserError, wordError } from "../plan/problem.ts";
import type { TextSink } from "../report/report.ts";
import { EXIT, exitCodeOf } from "../result/exit-codes.ts";
import { type LoadedCommand, type Operand, usageOfFlags } from "./command-usage.ts";
import type { CommandIo } from "./execute.ts";
import { type FlagValues, parseFlags, printProblems } from "./flags.ts";
import { type HelpPage, printsHelp } from "./help/page.ts";
import { withNames } from "./setting-names.ts";

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

/** A command whose flags are a table of `flags.ts`. */
interface FlagCommand {
  /** Returns its help, with its flags. @param command the command as it was called, also in `run` */
  page(command: string): HelpPage;
  readonly operand?: Operand;
  /** Maximum number of positional arguments. Default: 1 with an operand, else 0. */
  readonly most?: number;
  /** Its names of settings. Default: those of scenarios. */
  readonly nameOf?: NameOf;
  /** Returns the exit code. */
  run(flags: FlagValues, io: CommandIo, command: string, args: readonly string[]): Promise<number>;
}

/** Returns a command that prints its help where that is asked for. Errors are as in {@link explainErrors}. */
export function flagCommand({ page, operand, most = operand ? 1 : 0, nameOf, run }: FlagCommand): LoadedCommand {
  return {
    usage: () => usageOfFlags(page("").flags, operand),
    run: (args, command, rawIo) => {
      const io = nameOf === undefined ? rawIo : withNames(rawIo, nameOf);
      return explainErrors(command, io, async (parse) => {
        const help = page(command);
        const flags = parse(help.flags, args, most);
        return printsHelp(flags, help, io) ? EXIT.passed : run(flags, io, command, args);
      });
    },
  };
}
