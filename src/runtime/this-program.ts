import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isExecutable, runtimeName } from "./runtime.ts";

/** The version of this build, as shown in reports. */
export const VERSION = "0.1.0";

/** A program and its first arguments. */
export interface ThisProgram {
  readonly command: string;
  readonly args: readonly string[];
}

const DENO_ARGS = "run -A".split(" ");

/** Returns the command that starts this program again on this runtime. */
export function thisProgram(): ThisProgram {
  const command = process.execPath;
  if (isExecutable) return { command, args: [] };
  return { command, args: [...(runtimeName === "deno" ? DENO_ARGS : []), mainPath()] };
}

function mainPath(): string {
  const extension = import.meta.url.endsWith(".js") ? "js" : "ts";
  const beside = new URL(`./main.${extension}`, import.meta.url);
  const entry = existsSync(beside) ? beside : new URL(`../main.${extension}`, import.meta.url);
  return fileURLToPath(entry);
}
