import { existsSync, readFileSync, statSync } from "node:fs";
import * as nodeModule from "node:module";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { messageOf, UserError } from "../plan/problem.ts";
import { runtimeName } from "../runtime/runtime.ts";
import { isScenario, type Scenario } from "./define.ts";

/**
 * Loads a user's scenario file. `import … from "rampart"` gives it the API of the running program, so that it also works from an
 * executable in a folder without node_modules.
 */

const PACKAGE = "rampart";
const API_KEY = Symbol.for("rampart.api");
/** Never fetched: the load hook answers for it. */
const API_URL = "data:text/javascript,rampart";

/** A loaded scenario and the folder its relative paths start in. */
export interface LoadedScenario {
  readonly scenario: Scenario;
  readonly folder: string;
}

interface BunPlugins {
  plugin(options: {
    name: string;
    setup(build: { module(name: string, load: () => { exports: object; loader: "object" }): void }): void;
  }): void;
}

/**
 * Loads a scenario.
 * @param api what `"rampart"` exports to it
 * @throws UserError when there is no such file, it does not load, or it has no scenario as its default export
 */
export async function loadScenario(file: string, api: object): Promise<LoadedScenario> {
  const path = resolve(file);
  if (!existsSync(path) || !statSync(path).isFile()) {
    throw new UserError([
      {
        path: file,
        message: "there is no such file",
        hint: "Give the path of a scenario, such as scenarios/quickstart.ts.",
      },
    ]);
  }
  const takeBack = injectApi(api);
  let loaded: { default?: unknown };
  try {
    loaded = (await import(pathToFileURL(path).href)) as { default?: unknown };
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError([
      { path: file, message: `does not load: ${describeLoadError(error)}`, hint: "Correct the file." },
    ]);
  } finally {
    takeBack();
  }
  if (!isScenario(loaded.default)) {
    throw new UserError([
      {
        path: file,
        message: "its default export is not a scenario",
        hint: "Write `export default defineScenario({ … })`.",
      },
    ]);
  }
  return { scenario: loaded.default, folder: dirname(path) };
}

/** Makes `"rampart"` resolve to the API in modules loaded until what is returned is called. */
function injectApi(api: object): () => void {
  if (runtimeName === "bun") {
    (globalThis as unknown as { Bun: BunPlugins }).Bun.plugin({
      name: "rampart-api",
      setup: (build) => build.module(PACKAGE, () => ({ exports: api, loader: "object" })),
    });
    return () => {};
  }
  if (runtimeName === "node" && typeof nodeModule.registerHooks !== "function") {
    const hint = "Use Node 22.19 or newer, Bun, Deno or the executable.";
    throw new UserError([{ path: "node", message: "is too old to load scenarios", value: process.version, hint }]);
  }
  (globalThis as { [API_KEY]?: object })[API_KEY] = api;
  const source = formatApiModule(api);
  const hooks = nodeModule.registerHooks({
    resolve: (specifier, context, next) =>
      specifier === PACKAGE ? { url: API_URL, format: "module", shortCircuit: true } : next(specifier, context),
    load: (url, context, next) =>
      url === API_URL ? { format: "module", shortCircuit: true, source } : loadTypeScript(url, context, next),
  });
  // Under Deno 2.9 a package's `require` of a JSON file fails while there is a load hook.
  return () => hooks.deregister();
}

/** A module that re-exports the API of the running program. */
function formatApiModule(api: object): string {
  const names = Object.keys(api).map((name) => `export const ${name} = api.${name};`);
  return `const api = globalThis[Symbol.for("rampart.api")];\n${names.join("\n")}`;
}

/** Node strips no enums or parameter properties by itself, and Deno resolves no hooked import in a file it loads by itself. */
function loadTypeScript(
  url: string,
  context: nodeModule.LoadHookContext,
  next: (url: string, context?: Partial<nodeModule.LoadHookContext>) => nodeModule.LoadFnOutput,
): nodeModule.LoadFnOutput {
  // Deno 2.9 takes JSON that a package requires for JavaScript, where there is a load hook.
  if (runtimeName === "deno" && url.startsWith("file:") && url.endsWith(".json"))
    return { format: "json", shortCircuit: true, source: readFileSync(new URL(url), "utf8") };
  if (!url.startsWith("file:") || !/\.m?ts$/.test(url) || url.includes("/node_modules/")) return next(url, context);
  const text = readFileSync(new URL(url), "utf8").replace(/^#!.*/, "");
  return { format: "module", shortCircuit: true, source: stripTypes(text, url) };
}

/** Node announces its type stripper as experimental on stderr, once; that would stand in every report. */
function stripTypes(text: string, url: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return nodeModule.stripTypeScriptTypes(text, { mode: "transform" });
  } catch (error) {
    throw new SyntaxError(describeSyntaxError(error, url), { cause: error });
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Node draws the place above the stack, Deno into the message; neither knows the file. */
function describeSyntaxError(error: unknown, url: string): string {
  const { message, stack = "" } = error as Error;
  const line = (/stripTypeScriptTypes\.ts:(\d+):/.exec(message) ?? /^\S*:(\d+)\n/.exec(stack))?.[1];
  const [first = ""] = message.split("\n", 1);
  const text = first.replace(/^SyntaxError: /, "");
  return `${text} (${basename(fileURLToPath(url))}${line === undefined ? "" : ` line ${line}`})`;
}

function describeLoadError(error: unknown): string {
  // Bun gives several errors of one file at once, each with its place.
  const parts = error instanceof AggregateError ? error.errors : [error];
  return parts.map(describePart).join("; ");
}

function describePart(part: unknown): string {
  const position = (part as { position?: { file?: string; line?: number } | null } | null | undefined)?.position;
  const place = position?.line === undefined ? "" : ` (${basename(position.file ?? "")} line ${position.line})`;
  return `${messageOf(part)}${place}`;
}
