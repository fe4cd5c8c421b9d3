import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import { readFileText } from "../runtime/files.ts";

/** Maximum size of a file that is read before the run. */
const LARGEST_FILE_BYTES = 16 * 1024 * 1024;

/** Converts a path relative to here into one relative to the scenario's folder. */
export function pathFrom(scenario: string, path: string): string {
  if (isAbsolute(path)) return path;
  const fromFolder = relative(dirname(resolve(scenario)), resolve(path)).replaceAll("\\", "/");
  return fromFolder.startsWith("../") ? fromFolder : `./${fromFolder}`;
}

/** Returns the text of a file; undefined if it cannot be read or is too large. */
export function readText(path: string): string | undefined {
  try {
    return readFileText(path, LARGEST_FILE_BYTES);
  } catch {
    return undefined;
  }
}

/** Returns why a file cannot be written to a path; undefined if it can. A missing folder is not a problem. */
export function findFolderProblem(path: string): string | undefined {
  let folder = dirname(resolve(path));
  while (!existsSync(folder)) folder = dirname(folder);
  if (!statSync(folder).isDirectory()) return `cannot be written: ${folder} is not a folder`;
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return `cannot be written: the folder ${folder} is not writable`;
  }
}
