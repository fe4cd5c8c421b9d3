import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replacePart } from "../../compile/docs/generated-part.ts";

const guide = join(import.meta.dirname, "README.md");

/** Writes the figures of a whole run into the guide of the benchmarks. @param bench name of the part, such as `bench` */
export function writeFigures(bench: string, report: string): void {
  writeFileSync(guide, replacePart(readFileSync(guide, "utf8"), bench, report));
}
