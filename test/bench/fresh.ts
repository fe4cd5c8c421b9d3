import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Copies a program, or the folder it starts from, so that every program under test comes from equally fresh pages: how old a file's pages
 * are in the system's cache, and in which pieces they were read, moves a start by more than what is compared. Returns the copy's path.
 */
export function freshCopy(path: string, into: string): string {
  const copy = join(into, basename(path));
  rmSync(copy, { recursive: true, force: true });
  copyFresh(path, copy);
  return copy;
}

function copyFresh(from: string, to: string): void {
  const { mode } = statSync(from);
  mkdirSync(dirname(to), { recursive: true });
  if (statSync(from).isDirectory()) for (const name of readdirSync(from)) copyFresh(join(from, name), join(to, name));
  else writeFileSync(to, readFileSync(from), { mode });
}
