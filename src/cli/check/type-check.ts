import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { defined } from "../../plan/objects.ts";
import { readFileText } from "../../runtime/files.ts";
import { ENVIRONMENT_TEXT, SCENARIO_OPTIONS } from "../types/command.ts";
import { readDeclarations } from "../types/declarations.ts";

/** Checks the types of scenarios with the user's TypeScript compiler. */

/** Result of the compiler for scenarios that share a compiler and its settings. */
export interface TypeCheck {
  readonly files: readonly string[];
  /** Path of the compiler. Absent: no compiler was found. */
  readonly compiler?: string;
  /** Errors, one line each; empty if there are none. */
  readonly errors: readonly string[];
  /** Reason why the compiler could not be run. */
  readonly failure?: string;
}

const IS_WINDOWS = process.platform === "win32";
const PROGRAM = IS_WINDOWS ? "tsc.cmd" : "tsc";
const MODULES = "node_modules";
const TYPES = "rampart.d.ts";
const ENVIRONMENT = "rampart-env.d.ts";

/** Checks the types of scenarios in TypeScript. Files in folders with different settings are checked separately. */
export function checkTypes(files: readonly string[]): TypeCheck[] {
  const scripts = files.filter((file) => /\.[cm]?ts$/i.test(file));
  const groups = Map.groupBy(scripts, (file) => `${findCompiler(file)}\n${findAbove(file, "tsconfig.json")}`);
  return [...groups.values()].map((group) => {
    const [first = ""] = group;
    const compiler = findCompiler(first);
    return compiler === undefined
      ? { files: group, errors: [] }
      : { files: group, compiler, ...compile(compiler, group) };
  });
}

/** Returns the compiler of the nearest `node_modules`, otherwise that of the path. */
function findCompiler(file: string): string | undefined {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, PROGRAM));
  return (
    findAbove(file, join(MODULES, ".bin", PROGRAM)) ??
    findAbove(join(process.cwd(), "file"), join(MODULES, ".bin", PROGRAM)) ??
    onPath.find((path) => existsSync(path))
  );
}

/** Returns the paths of this name in the folder of a file and in those above it, the nearest first. */
function listAbove(file: string, name: string): string[] {
  const paths: string[] = [];
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    paths.push(join(folder, name));
    if (folder === dirname(folder)) return paths.filter((path) => existsSync(path));
  }
}

function findAbove(file: string, name: string): string | undefined {
  return listAbove(file, name)[0];
}

/** @param files at least one, with the same settings */
function compile(compiler: string, files: readonly string[]): Pick<TypeCheck, "errors" | "failure"> {
  const folder = mkdtempSync(join(tmpdir(), "rampart-check-"));
  try {
    writeFileSync(join(folder, TYPES), readDeclarations());
    writeFileSync(join(folder, ENVIRONMENT), ENVIRONMENT_TEXT);
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settingsFor(files, folder)));
    const { status, error, stdout, stderr } = spawnSync(compiler, ["-p", folder, "--pretty", "false"], {
      encoding: "utf8",
      shell: IS_WINDOWS,
    });
    const errors = toErrors(stdout ?? "");
    if (status === 0) return { errors: [] };
    if (errors.some((line) => /error TS\d+:/.test(line))) return { errors };
    return { errors: [], failure: error?.message ?? stderr.trim().split("\n").at(-1) ?? `it ended with ${status}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns a line for each error. Of the lines that explain one, only the last of a call without a fitting form says what is wrong. */
function toErrors(text: string): string[] {
  const errors = text.split(/\r?\n(?=\S)/).filter((error) => error.trim() !== "");
  return errors.map((error) => {
    const [line = "", ...more] = error.trimEnd().split(/\r?\n/);
    const why = more.at(-1)?.trim();
    return why !== undefined && line.includes(" error TS2769:") ? `${line} ${why}` : line;
  });
}

/** Returns the settings of the nearest `tsconfig.json`, or those that `rampart types` writes. @param folder with the types */
function settingsFor(files: readonly string[], folder: string): object {
  const [first = ""] = files;
  const config = findAbove(first, "tsconfig.json");
  const typeRoots = listAbove(first, join(MODULES, "@types"));
  const hasNode = typeRoots.some((root) => existsSync(join(root, "node")));
  const defaults = config === undefined ? { ...SCENARIO_OPTIONS, types: hasNode ? ["node"] : [] } : {};
  // Paths set here would replace the user's, which lead to the types beside the scenarios.
  const hasPaths = config !== undefined && /"paths"\s*:/.test(readFileText(config));
  return {
    ...defined({ extends: config }),
    compilerOptions: {
      ...defaults,
      ...(hasPaths ? {} : { paths: { rampart: [join(folder, TYPES)] } }),
      ...{ typeRoots, noEmit: true, allowImportingTsExtensions: true, skipLibCheck: true },
      ...{ composite: false, incremental: false },
    },
    files: [...(hasNode ? [] : [ENVIRONMENT]), ...files.map((file) => resolve(file))],
    include: [],
  };
}
