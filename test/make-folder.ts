import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];
const removeAll = (): void => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
};
process.on("exit", removeAll);
// Deno's tests end without that event.
(globalThis as Partial<EventTarget>).addEventListener?.("unload", removeAll);

/** Creates a folder, which is removed when the process ends. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "rampart-test-"));
  made.push(folder);
  return folder;
}

/** Writes a file of a folder. Returns its path. */
export function writeIn(folder: string, name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}
