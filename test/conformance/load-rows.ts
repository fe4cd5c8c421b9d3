import { readdirSync } from "node:fs";
import type { ConformanceRow } from "./row.ts";

interface RowFile {
  readonly rows: readonly ConformanceRow[];
}

/** Returns the rows of all files of `rows/`. */
export async function loadRows(): Promise<readonly ConformanceRow[]> {
  const files = readdirSync(new URL("./rows/", import.meta.url)).filter((file) => file.endsWith(".ts"));
  const loaded = await Promise.all(files.sort().map(async (file) => (await import(`./rows/${file}`)) as RowFile));
  return loaded.flatMap((file) => file.rows);
}
