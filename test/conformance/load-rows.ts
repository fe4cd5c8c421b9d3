import { existsSync, readdirSync } from "node:fs";
import type { ConformanceRow } from "./row.ts";

interface RowFile {
  readonly rows: readonly ConformanceRow[];
}

/** Returns the rows of all service kinds: those of `test/service/NAME/conformance.ts`. */
export async function loadRows(): Promise<readonly ConformanceRow[]> {
  const kinds = new URL("../service/", import.meta.url);
  const files = readdirSync(kinds).map((name) => new URL(`${name}/conformance.ts`, kinds));
  const loaded = files.filter((file) => existsSync(file)).sort();
  return (await Promise.all(loaded.map(async ({ href }) => (await import(href)) as RowFile))).flatMap(
    ({ rows }) => rows,
  );
}
