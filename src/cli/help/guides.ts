import { readFileSync } from "node:fs";

/**
 * The text of a guide. In executables the bundler puts a function in its place that holds the texts (`compile/bundle.ts`).
 * @param path from the repository's root, such as `scenarios/README.md`
 */
export function readGuide(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
}
