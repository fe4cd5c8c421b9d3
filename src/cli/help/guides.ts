import { readFileSync } from "node:fs";

/**
 * Returns the text of a guide. In executables, the bundler replaces this function by one that contains the texts
 * (`compile/bundle.ts`).
 * @param path path from the repository's root, such as `scenarios/README.md`
 */
export function readGuide(path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
}
