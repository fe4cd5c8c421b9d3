import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isExecutable, runtimeName } from "./runtime.ts";

/** A program and its first arguments. */
export interface OwnProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Returns the command that starts this program again where C can be compiled: the executable, or Bun with the program's entry. Node and Deno
 * use the Bun of the PATH. Undefined when there is none.
 */
export function ownProgramOnBun(): OwnProgram | undefined {
  if (isExecutable) return { command: process.execPath, args: [] };
  const bun = runtimeName === "bun" ? process.execPath : findOnPath("bun");
  return bun === undefined ? undefined : { command: bun, args: [mainPath()] };
}

function findOnPath(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Returns the path of the entry of this program, for programs that are no executable. */
export function mainPath(): string {
  const extension = import.meta.url.endsWith(".js") ? "js" : "ts";
  const beside = new URL(`./main.${extension}`, import.meta.url);
  const entry = existsSync(beside) ? beside : new URL(`../main.${extension}`, import.meta.url);
  return fileURLToPath(entry);
}
