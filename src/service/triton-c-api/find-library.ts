import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { NO_FOLDER, type Problem, problem } from "../../plan/problem.ts";
import { listNames } from "../../plan/show-value.ts";
import { isDirectory } from "../../runtime/files.ts";
import type { TritonInProcessTargetPlan } from "./target.ts";

/** File name of the library: without a hash in Triton's container, with one in a Python package. */
const LIBRARY = /^libtritonserver(-[0-9a-f]+)?\.so$/;
const PACKAGE_LIBRARIES = /\.libs$/;
/** Maximum number of names that an error lists. */
const MOST_NAMES = 12;

/** Returns the path of Triton's library in an installation; undefined if it has none. */
export function findLibrary(directory: string): string | undefined {
  const folders = [join(directory, "lib"), directory];
  for (const above of [directory, join(directory, ".."), join(directory, "../.."), join(directory, "../../..")])
    for (const name of namesIn(above)) if (PACKAGE_LIBRARIES.test(name)) folders.push(join(above, name));
  for (const folder of folders) for (const name of namesIn(folder)) if (LIBRARY.test(name)) return join(folder, name);
  return undefined;
}

/**
 * Returns the folders in which the library and the backends search for other libraries: its own folder, and those of its package.
 */
export function libraryFolders(directory: string, library: string): string[] {
  const folders = [dirname(library), join(directory, "lib"), join(directory, "external_libs")];
  return [...new Set(folders.filter(isDirectory))];
}

/** Returns the reasons why a target cannot be started: what is missing, and what exists instead. */
export function checkInstallation({ directory, modelRepository, model }: TritonInProcessTargetPlan): Problem[] {
  const problems: Problem[] = [];
  if (findLibrary(directory) === undefined) {
    const message = isDirectory(directory)
      ? `there is no lib/libtritonserver.so; the folder contains ${listed(namesIn(directory))}`
      : NO_FOLDER;
    const hint = "Give Triton's installation: the folder with lib/libtritonserver.so and backends.";
    problems.push(problem("missing", { setting: "target.directory" }, message, hint, directory));
  }
  // Only the library knows other places, such as s3://….
  if (modelRepository.includes("://")) return problems;
  if (!isDirectory(modelRepository)) {
    const hint = "Give the folder that contains the models' folders.";
    const at = { setting: "target.modelRepository" } as const;
    problems.push(problem("missing", at, NO_FOLDER, hint, modelRepository));
  } else if (!isDirectory(join(modelRepository, model))) {
    const message = `the model repository ${modelRepository} has no such model`;
    const hint = `It has ${listed(modelsIn(modelRepository))}.`;
    problems.push(problem("unknown-name", { setting: "target.model" }, message, hint, model));
  }
  return problems;
}

/** Returns the names of the folders in a model repository, sorted; empty if it does not exist. */
export function modelsIn(modelRepository: string): string[] {
  return namesIn(modelRepository).filter((name) => isDirectory(join(modelRepository, name)));
}

function namesIn(folder: string): string[] {
  return isDirectory(folder) ? readdirSync(folder).sort() : [];
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "nothing" : listNames(names, MOST_NAMES);
}
