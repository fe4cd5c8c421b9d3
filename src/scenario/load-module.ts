import { copyFileSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import * as nodeModule from "node:module";
import { basename, dirname, extname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { NO_FILE, type Problem, unreadable, userError } from "../plan/problem.ts";
import { isFile, MOST_SETTINGS_BYTES, tooLarge } from "../runtime/files.ts";
import { guardExit } from "../runtime/process-end/exit-guard.ts";
import { runtimeName } from "../runtime/runtime.ts";
import { defineScenario, isScenario, type Scenario, type ScenarioDefinition } from "./define.ts";
import { BuiltIns, refuseChanges } from "./definition/built-ins.ts";
import { placeInCode } from "./definition/code-places.ts";
import { readFields } from "./plain-data.ts";
import { beforeLimit, describeExit, type LoadLimits, type Say, toLoadError } from "./scenario-error.ts";

/**
 * Loads a user's scenario file. `import … from "rampart"` resolves to the API of the running program, so that it also works with an
 * executable in a folder without node_modules.
 */

const PACKAGE = "rampart";
const API_KEY = Symbol.for("rampart.api");
/** Never fetched, because the load hook returns its source. */
const API_URL = "data:text/javascript,rampart";

/** A loaded scenario and the base folder of its relative paths. */
export interface LoadedScenario {
  readonly scenario: Scenario;
  /** File name as the user typed it. */
  readonly file: string;
  readonly folder: string;
  /** Adds line and column to a problem with a part of the scenario. */
  place(problem: Problem): Problem;
}

interface BunPlugins {
  plugin(options: {
    name: string;
    setup(build: { module(name: string, load: () => { exports: object; loader: "object" }): void }): void;
  }): void;
}

/** File names of scenarios that are data. */
const DATA_FILE = /\.(?:ya?ml|json)$/i;

/** Whether a file's scenario is data, in YAML or JSON. */
export function isDataFile(file: string): boolean {
  return DATA_FILE.test(file);
}

const SIZE_HINT = "Keep data in files of its own.";

/** Exit code if the scenario ends the process: wrong usage. */
const EXIT_USAGE = 64;

/** A file name of code. A script of a shell command may have no extension. */
const CODE_FILE = /(?:^|[\\/])[^\\/.]+$|\.[mc]?[jt]sx?$/;

/**
 * Loads a scenario.
 * @param api exports of `"rampart"`
 * @param say receives a sentence if loading takes long. Default: no message
 * @param limits limits of the loading time, including top-level `await`; default: a sentence after 10 s, and an error
 * after 5 min
 * @throws UserError if the file does not exist, does not load in time, or does not export a scenario as its default
 */
export async function loadScenario(
  file: string,
  api: object,
  say: Say = () => {},
  limits?: LoadLimits,
): Promise<LoadedScenario> {
  const path = resolve(file);
  if (!isFile(path)) {
    const hint = "Give the path of a scenario, or write one with rampart init.";
    const message = existsSync(path) ? "is not a regular file" : NO_FILE;
    throw userError("unreadable", file, message, hint);
  }
  if (statSync(path).size > MOST_SETTINGS_BYTES)
    throw unreadable(file, tooLarge(MOST_SETTINGS_BYTES), undefined, SIZE_HINT);
  if (isDataFile(path)) {
    const { loadDataScenario } = await import("./data/load-data.ts");
    const { scenario, place } = loadDataScenario(path, file);
    return { scenario: withReadFields(scenario, path), place, file, folder: dirname(path) };
  }
  if (!CODE_FILE.test(path)) {
    const hint = "A scenario is a .ts or .js file, or without code a .yaml or .json file.";
    throw userError("invalid-value", file, "is not a scenario", hint);
  }
  const builtIns = new BuiltIns();
  const source = toImportable(path, file);
  const takeBack = injectApi(api);
  const release = guardExit((code) => describeExit(file, code, "while it was loaded"), EXIT_USAGE);
  let loaded: { default?: unknown };
  try {
    loaded = (await beforeLimit(import(pathToFileURL(source).href), file, say, limits)) as { default?: unknown };
    refuseChanges(builtIns, file);
  } catch (error) {
    builtIns.restore();
    throw toLoadError(error, file, source, Object.keys(api));
  } finally {
    release();
    takeBack();
    if (source !== path) rmSync(source, { force: true });
  }
  if (!isScenario(loaded.default)) {
    const hint = "Write `export default defineScenario({ … })`.";
    throw userError("invalid-value", file, "its default export is not a scenario", hint);
  }
  return loadedFrom(loaded.default, path, file);
}

/** Returns a scenario that is code. @param path absolute path of its file @param file name as the user typed it */
export function loadedFrom(scenario: Scenario, path: string, file: string): LoadedScenario {
  const read = withReadFields(scenario, path);
  const place = (found: Problem): Problem => placeInCode(found, path, file, read.definition);
  return { scenario: read, file, folder: dirname(path), place };
}

/**
 * Returns a scenario whose fields can be read again without calling the user's code, named like the file if it has no name.
 * @throws UserError with the name of a field that throws
 */
function withReadFields({ definition }: Scenario, path: string): Scenario {
  const fields = readFields(definition) as ScenarioDefinition;
  return defineScenario({ ...fields, name: fields.name ?? basename(path, extname(path)) });
}

/** Characters of a path that a runtime cannot import, in any notation. */
const NOT_IMPORTABLE = { bun: /[?\\]/, node: /\\/, deno: /(?!)/ };

/**
 * Returns the path to import: the scenario's path, or if it cannot be imported, the path of a copy beside it, so that relative imports
 * work. The caller removes the copy. @throws UserError if the folder cannot be imported from or written to
 */
function toImportable(path: string, file: string): string {
  const pattern = NOT_IMPORTABLE[runtimeName];
  const [folder, name] = [dirname(path), basename(path)];
  if (process.platform === "win32" || !pattern.test(path)) return path;
  const hint = "Rename it, without ? and \\.";
  if (pattern.test(folder)) throw userError("unsupported", file, "its folder has a name that cannot be imported", hint);
  const copy = join(folder, `${name.replaceAll(/[?\\]/g, "_")}.${process.pid}${extname(name)}`);
  try {
    copyFileSync(path, copy);
  } catch {
    throw userError("unsupported", file, "has a name that cannot be imported", hint);
  }
  return copy;
}

/** Makes `"rampart"` resolve to the API, in modules that are loaded until the returned function is called. */
function injectApi(api: object): () => void {
  if (runtimeName === "bun") {
    (globalThis as typeof globalThis & { Bun: BunPlugins }).Bun.plugin({
      name: "rampart-api",
      setup: (build) => build.module(PACKAGE, () => ({ exports: api, loader: "object" })),
    });
    return () => {};
  }
  if (runtimeName === "node" && typeof nodeModule.registerHooks !== "function") {
    const hint = "Use Node 22.19 or newer, Bun, Deno or the executable.";
    throw userError("unsupported", "node", "is too old to load scenarios", hint, process.version);
  }
  (globalThis as { [API_KEY]?: object })[API_KEY] = api;
  const source = formatApiModule(api);
  const hooks = nodeModule.registerHooks({
    resolve: (specifier, context, next) =>
      specifier === PACKAGE ? { url: API_URL, format: "module", shortCircuit: true } : next(specifier, context),
    load: (url, context, next) =>
      url === API_URL ? { format: "module", shortCircuit: true, source } : loadTypeScript(url, context, next),
  });
  // In Deno 2.9, a package's `require` of a JSON file fails while a load hook is installed.
  return () => hooks.deregister();
}

/** Returns a module that re-exports the API of the running program. */
function formatApiModule(api: object): string {
  const names = Object.keys(api).map((name) => `export const ${name} = api.${name};`);
  return `const api = globalThis[Symbol.for("rampart.api")];\n${names.join("\n")}`;
}

/** Node does not transform enums or parameter properties, and Deno does not apply the resolve hook to files that it loads itself. */
function loadTypeScript(
  url: string,
  context: nodeModule.LoadHookContext,
  next: (url: string, context?: Partial<nodeModule.LoadHookContext>) => nodeModule.LoadFnOutput,
): nodeModule.LoadFnOutput {
  // With a load hook, Deno 2.9 parses JSON that a package requires as JavaScript.
  if (runtimeName === "deno" && url.startsWith("file:") && url.endsWith(".json"))
    return { format: "json", shortCircuit: true, source: readFileSync(new URL(url), "utf8") };
  if (!url.startsWith("file:") || !/\.m?ts$/.test(url) || url.includes("/node_modules/")) return next(url, context);
  const text = readFileSync(new URL(url), "utf8").replace(/^#!.*/, "");
  return { format: "module", shortCircuit: true, source: stripTypes(text, url) };
}

/**
 * Strips types. Suppresses Node's one-time warning on stderr that type stripping is experimental, which would otherwise
 * appear in every report.
 */
function stripTypes(text: string, url: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripOrTransform(text);
  } catch (error) {
    throw describeSyntaxError(error, url);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Keeps positions in errors correct: Node replaces types with spaces, and uses a source map for syntax that needs a transformation (enums,
 * parameter properties). Deno always uses a source map.
 */
function stripOrTransform(text: string): string {
  if (runtimeName === "deno") return nodeModule.stripTypeScriptTypes(text, { mode: "transform" });
  try {
    return nodeModule.stripTypeScriptTypes(text);
  } catch {
    process.setSourceMapsEnabled(true);
    return nodeModule.stripTypeScriptTypes(text, { mode: "transform", sourceMap: true });
  }
}

/** Node reports the position above the stack, Deno in the message; neither reports the file. */
function describeSyntaxError(error: unknown, url: string): SyntaxError {
  const { message, stack = "" } = error as Error;
  const line = (/stripTypeScriptTypes\.ts:(\d+):/.exec(message) ?? /^\S*:(\d+)\n/.exec(stack))?.[1];
  const [first = ""] = message.split("\n", 1);
  // Written as in a stack, because Deno only passes on the message of an error in a load hook.
  const place = line === undefined ? "" : ` (${fileURLToPath(url)}:${line})`;
  return new SyntaxError(`${first.replace(/^SyntaxError: /, "")}${place}`, { cause: error });
}
