import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Calls `use` with a new folder, which is removed afterwards. */
export function withFolder(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "rampart-test-"));
  try {
    use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
