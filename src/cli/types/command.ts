import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeWriteError, problem, UserError, userError } from "../../plan/problem.ts";
import { EXIT } from "../../result/exit-codes.ts";
import { readFileText } from "../../runtime/files.ts";
import type { CommandIo } from "../execute.ts";
import { flagCommand } from "../explain-errors.ts";
import { type Flag, type FlagValues, HELP_FLAGS } from "../flags.ts";
import type { HelpPage } from "../help/page.ts";
import { readDeclarations } from "./declarations.ts";

/** `rampart types`: writes the files that an editor needs to complete and check scenarios, beside them. */

/** Its options. */
export const FLAGS: readonly Flag[] = HELP_FLAGS;

/** The first characters of the file of types, by which it is recognized. */
const MARK = "// Types of Rampart's scenarios";
const TYPES = "rampart.d.ts";
const ENVIRONMENT = "rampart-env.d.ts";
const CONFIG = "tsconfig.json";

/** Name of the type of `process` in Node's types. */
const NODE = "NodeJS";

/**
 * Declarations of the parts of a runtime that scenarios use, for when Node's types are not installed: its modules, and a part of `process`
 * that is compatible with those types. Unlike the module `rampart`, they may be declared several times.
 */
export const ENVIRONMENT_TEXT = `${MARK}: what scenarios use of Node, Bun or Deno, for folders without @types/node.

declare module "node:*";

declare namespace ${NODE} {
  interface ProcessEnv extends Record<string, string | undefined> {}
  interface Process {
    argv: string[];
    env: ProcessEnv;
    cwd(): string;
  }
}

declare var process: ${NODE}.Process;
`;

/** Compiler options for scenarios. They are not needed to run scenarios. */
export const SCENARIO_OPTIONS = {
  target: "es2024",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2024", "dom"],
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
};

/** Path of the module for the compiler. Without it, an include that covers several folders with types would find the module twice. */
const PATHS = { rampart: [`./${TYPES}`] };

const CONFIG_TEXT = `${JSON.stringify(
  { compilerOptions: { ...SCENARIO_OPTIONS, paths: PATHS }, include: ["**/*.ts"] },
  null,
  2,
)}\n`;

/** The command. */
export const COMMAND = flagCommand({
  operand: { name: "FOLDER", takes: "folder" },
  page: helpPage,
  run: runTypesCommand,
});

/** Runs `rampart types`. Returns the exit code. */
async function runTypesCommand(flags: FlagValues, io: CommandIo): Promise<number> {
  if (flags.problems.length > 0) throw new UserError(flags.problems);
  const [folder = "."] = flags.positionals;
  if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true)
    throw userError("invalid-value", folder, "is a file", "Give the folder that it is in.");
  const files = [
    [join(folder, TYPES), readDeclarations()],
    [join(folder, ENVIRONMENT), ENVIRONMENT_TEXT],
  ] as const;
  const foreign = files.flatMap(([path]) => (existsSync(path) && !readFileText(path).startsWith(MARK) ? [path] : []));
  const message = "exists, and is not written by this command";
  if (foreign.length > 0) throw new UserError(foreign.map((path) => problem("overwrite", path, message, "Rename it.")));
  for (const [path, text] of files) write(folder, path, text);
  const config = join(folder, CONFIG);
  const isKept = existsSync(config);
  if (!isKept) write(folder, config, CONFIG_TEXT);
  io.out([...files.map(([path]) => path), ...(isKept ? [] : [config])].map((path) => `wrote ${path}\n`).join(""));
  if (isKept && !/"paths"[^}]*"rampart"/.test(readFileText(config))) io.out(`${config} ${KEPT}\n`);
  return EXIT.passed;
}

/** Message on what the user's own configuration needs. */
const KEPT = `exists and is kept. Add to its compilerOptions: "paths": ${JSON.stringify(PATHS)}, and let its include cover ${ENVIRONMENT} and the scenarios`;

function write(folder: string, path: string, text: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, text);
  } catch (error) {
    throw userError("unwritable", path, `cannot be written: ${describeWriteError(error)}`, "Give another folder.");
  }
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} [FOLDER] [options]`],
    about: [
      `Writes ${TYPES}, the types of the module "rampart", ${ENVIRONMENT}, a part of those of Node, and a ${CONFIG} into a folder with scenarios (default: this one), so that an editor completes and checks them where nothing is installed. Run it again after an update of Rampart. An existing ${CONFIG} is kept.`,
    ],
    flags: FLAGS,
    examples: [`${command} load-tests`],
  };
}
