import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isExecutable } from "./runtime.ts";

/** Returns the command that starts this program again: the executable, or the runtime with the program's entry. */
export function ownProgram(): { readonly command: string; readonly args: readonly string[] } {
  if (isExecutable) return { command: process.execPath, args: [] };
  const extension = import.meta.url.endsWith(".js") ? "js" : "ts";
  const beside = new URL(`./main.${extension}`, import.meta.url);
  const entry = existsSync(beside) ? beside : new URL(`../main.${extension}`, import.meta.url);
  return { command: process.execPath, args: [fileURLToPath(entry)] };
}
