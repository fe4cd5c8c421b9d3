import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, problem, UserError, userError } from "../../plan/problem.ts";
import { EXIT } from "../../result/exit-codes.ts";
import { readFileText } from "../../runtime/files.ts";
import { commandOf } from "../command-usage.ts";
import type { CommandIo } from "../execute.ts";
import { explainErrors } from "../explain-errors.ts";
import { type Flag, HELP_FLAGS, parseFlags } from "../flags.ts";
import { type HelpPage, printsHelp } from "../help/page.ts";
import { readDeclarations } from "./declarations.ts";

/** `rampart types`: what an editor needs to complete and check scenarios, beside them. */

/** Its options. */
export const FLAGS: readonly Flag[] = HELP_FLAGS;

/** The first characters of the file of types, by which it is recognized. */
const MARK = "// Types of Rampart's scenarios";
const TYPES = "rampart.d.ts";
const CONFIG = "tsconfig.json";

/** For `tsc` and editors. Scenarios are run without it. */
const CONFIG_TEXT = `${JSON.stringify(
  {
    compilerOptions: {
      target: "es2024",
      module: "esnext",
      moduleResolution: "bundler",
      lib: ["es2024", "dom"],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
    },
    include: ["**/*.ts"],
  },
  null,
  2,
)}\n`;

/** The command. */
export const COMMAND = commandOf(FLAGS, runTypesCommand, { name: "FOLDER", takes: "folder" });

/** Runs `rampart types`. Returns the exit code. */
export async function runTypesCommand(args: readonly string[], command: string, io: CommandIo): Promise<number> {
  return explainErrors(command, io, async () => {
    const flags = parseFlags(FLAGS, args, 1);
    if (printsHelp(flags, helpPage(command), io)) return EXIT.passed;
    if (flags.problems.length > 0) throw new UserError(flags.problems);
    const [folder = "."] = flags.positionals;
    const types = join(folder, TYPES);
    if (existsSync(types) && !readFileText(types).startsWith(MARK))
      throw new UserError(problem("overwrite", types, "exists, and is not written by this command", "Rename it."));
    write(folder, types, readDeclarations());
    io.out(`wrote ${types}\n`);
    const config = join(folder, CONFIG);
    if (existsSync(config))
      io.out(`${config} exists and is kept: its "include" must cover ${TYPES} and the scenarios\n`);
    else {
      write(folder, config, CONFIG_TEXT);
      io.out(`wrote ${config}\n`);
    }
    return EXIT.passed;
  });
}

function write(folder: string, path: string, text: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, text);
  } catch (error) {
    throw userError("unwritable", path, `cannot be written: ${messageOf(error)}`, "Give another folder.");
  }
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} [FOLDER] [options]`],
    about: [
      `Writes ${TYPES}, the types of the module "rampart", and a ${CONFIG} into a folder with scenarios (default: this one), so that an editor completes and checks them where nothing is installed. Run it again after an update of Rampart. An existing ${CONFIG} is kept.`,
    ],
    flags: FLAGS,
    examples: [`${command} load-tests`],
  };
}
