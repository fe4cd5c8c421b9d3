import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileSystem } from "../runtime/files.ts";

const WILD = /[*?]/;

/**
 * Returns the files that a pattern matches, sorted by path. `*` stands for any characters of a name but a slash, `?` for one. A path
 * without them, or one that exists as it is written, is returned whether or not there is a file. Names that begin with a dot match only
 * patterns that do.
 */
export async function findFiles(pattern: string): Promise<string[]> {
  const { existsSync } = fileSystem();
  if (!WILD.test(pattern) || existsSync(pattern)) return [pattern];
  let found = [pattern.startsWith("/") ? "/" : ""];
  const names = pattern.split("/").filter((name) => name !== "");
  for (const [index, name] of names.entries()) {
    const isLast = index === names.length - 1;
    const next = await Promise.all(found.map((folder) => matchIn(folder, name, isLast)));
    found = next.flat();
  }
  return found.sort();
}

/** Returns the entries of a folder that match a name: files if it is the last one of a pattern, else folders. */
async function matchIn(folder: string, name: string, isLast: boolean): Promise<string[]> {
  const { existsSync, statSync } = fileSystem();
  const paths = WILD.test(name)
    ? (await readdir(folder === "" ? "." : folder).catch(() => []))
        .filter((entry) => matches(entry, name))
        .map((entry) => join(folder, entry))
    : [join(folder, name)].filter((path) => existsSync(path));
  return paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === !isLast);
}

function matches(entry: string, name: string): boolean {
  if (entry.startsWith(".") && !name.startsWith(".")) return false;
  const pattern = name
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${pattern}$`, "su").test(entry);
}
