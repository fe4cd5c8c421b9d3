import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { type Problem, problem, UserError } from "../../../plan/problem.ts";
import { isFile, MOST_SETTINGS_BYTES, readFileText } from "../../../runtime/files.ts";

/** Files that agents need to load a scenario: its modules, and the npm packages that these import, as installed on this host. */

/** A symbolic link, as package managers and Kubernetes make them. */
export interface SentLink {
  /** Absolute path. */
  readonly path: string;
  /** Absolute path of the file or folder that it leads to, with all links resolved. */
  readonly target: string;
}

/** Files and links on this host. */
export interface SentModules {
  /** Absolute paths. */
  readonly paths: readonly string[];
  readonly links: readonly SentLink[];
}

/** Import of a module: `from "x"`, `import "x"`, `import("x")`, `require("x")`. */
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(["'])(?<name>[^"'\n]+)\1/g;
/** A line before an import that is a comment or imports only types. */
const NO_CODE = /^\s*(?:\/\/|\/?\*|(?:import|export)\s+type\s[^;]*$)/;
const CODE_FILE = /\.[cm]?[jt]sx?$/;
const HERE = /^\.{1,2}(?:\/|$)/;
/** Modules that every host has. */
const EVERYWHERE = /^(?:rampart$|node:|bun:)/;
/** Suffixes that an import may leave out. */
const ENDINGS = ["", ".ts", ".tsx", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.js"];
const NATIVE_ADDON = /\.node$/;
const MODULES_FOLDER = "node_modules";

/** Maximum size of all packages together. */
const MOST_PACKAGE_BYTES = 256 * 1024 * 1024;
const MOST_PACKAGE_FILES = 20_000;

/**
 * Finds the files of a scenario: itself, the modules that it imports by a relative path, and the packages that these import, with their
 * dependencies.
 * @param scenario absolute path
 * @throws UserError for packages that cannot be sent: not installed, too large, with a native addon
 */
export function findModules(scenario: string): SentModules {
  const search = new ModuleSearch();
  search.addModule(scenario);
  if (search.problems.length > 0) throw new UserError(search.problems);
  return { paths: [...search.paths], links: [...search.links].map(([path, target]) => ({ path, target })) };
}

/** The fields of a `package.json` that name other packages. */
interface PackageJson {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

class ModuleSearch {
  readonly paths = new Set<string>();
  readonly links = new Map<string, string>();
  readonly problems: Problem[] = [];
  /** Folders of packages that were added. */
  private readonly packages = new Set<string>();
  private packageBytes = 0;
  private packageFiles = 0;

  /** Adds a module of the scenario, and what it imports. */
  addModule(named: string): void {
    const path = this.follow(named);
    if (this.paths.has(path)) return;
    this.paths.add(path);
    if (!CODE_FILE.test(path)) return;
    // Tells how a runtime reads the module.
    const settings = nearest(dirname(path), (folder) => join(folder, "package.json"));
    if (settings !== undefined) this.paths.add(this.follow(settings));
    const text = readFileText(path, MOST_SETTINGS_BYTES);
    for (const { groups, index } of text.matchAll(IMPORT)) {
      const name = groups?.["name"] ?? "";
      if (NO_CODE.test(text.slice(text.lastIndexOf("\n", index) + 1, index))) continue;
      if (HERE.test(name) || name.startsWith("/")) this.addRelative(resolve(dirname(path), name));
      else if (!EVERYWHERE.test(name) && !isBuiltin(name)) this.addImported(path, name);
    }
  }

  private addRelative(path: string): void {
    const found = ENDINGS.map((ending) => `${path}${ending}`).find(isFile) ?? typeScriptOf(path);
    if (found !== undefined) this.addModule(found);
  }

  private addImported(module: string, specifier: string): void {
    const name = packageOf(specifier);
    const folder = findPackage(name, dirname(module));
    if (folder !== undefined) this.addPackage(folder, { module, name });
    else this.problems.push(notSent(module, "imports a package that is in no node_modules folder", specifier));
  }

  /** @param user the module of the scenario that needs the package, and the package that this module imports */
  private addPackage(named: string, user: { readonly module: string; readonly name: string }): void {
    const folder = this.follow(named);
    if (this.packages.has(folder)) return;
    this.packages.add(folder);
    const files = packageFiles(folder);
    const addon = files.find((path) => NATIVE_ADDON.test(path));
    if (addon !== undefined) {
      const message = `imports a package with a native addon (${relative(folder, addon)}), which is of this host`;
      this.problems.push(notSent(user.module, message, user.name));
      return;
    }
    for (const path of files) this.paths.add(path);
    const wasSmall = this.areSmall;
    this.packageFiles += files.length;
    this.packageBytes += files.reduce((sum, path) => sum + statSync(path).size, 0);
    if (!this.areSmall) {
      const message = "imports packages that have more than 256 MiB or 20,000 files with their dependencies";
      if (wasSmall) this.problems.push(notSent(user.module, message, user.name));
      return;
    }
    const settings = readSettings(folder);
    for (const { name, isOptional } of dependenciesOf(settings)) {
      const found = findPackage(name, folder);
      // A package works without its optional dependencies.
      if (found !== undefined && !(isOptional && packageFiles(found).some((path) => NATIVE_ADDON.test(path))))
        this.addPackage(found, user);
    }
  }

  private get areSmall(): boolean {
    return this.packageBytes <= MOST_PACKAGE_BYTES && this.packageFiles <= MOST_PACKAGE_FILES;
  }

  /** Returns the path with links resolved, and records each link: runtimes look for packages from it. */
  private follow(path: string): string {
    const target = realpathSync(path);
    if (target !== path) this.links.set(path, target);
    return target;
  }
}

/** `@org/name/sub` is the module `sub` of the package `@org/name`. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function findPackage(name: string, folder: string): string | undefined {
  return nearest(folder, (at) => join(at, MODULES_FOLDER, name));
}

/** Returns the first existing path, from a folder upwards. */
function nearest(folder: string, pathIn: (folder: string) => string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = pathIn(at);
    if (existsSync(path)) return path;
    if (dirname(at) === at) return undefined;
  }
}

/** `./x.js` may name the file `x.ts`. */
function typeScriptOf(path: string): string | undefined {
  const found = path.replace(/\.([cm]?)js$/, ".$1ts");
  return found !== path && isFile(found) ? found : undefined;
}

/** Lists the files of a package, without the packages installed in it. */
function packageFiles(folder: string): string[] {
  const names = readdirSync(folder, { withFileTypes: true }).filter(
    ({ name }) => name !== MODULES_FOLDER && !name.startsWith("."),
  );
  return names.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return packageFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

function readSettings(folder: string): PackageJson {
  try {
    return (JSON.parse(readFileText(join(folder, "package.json"), MOST_SETTINGS_BYTES)) ?? {}) as PackageJson;
  } catch {
    // A folder may have no `package.json` and still be imported.
    return {};
  }
}

function dependenciesOf(settings: PackageJson): { readonly name: string; readonly isOptional: boolean }[] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = settings;
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers])].map((name) => ({
    name,
    isOptional: name in optionalDependencies,
  }));
}

function notSent(path: string, message: string, name: string): Problem {
  const hint = "Bundle the scenario with it into one file first, or do without it.";
  return problem("unsupported", path, `${message}, so it is not sent to agents`, hint, name);
}
