import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../cli/rampart-process.ts";

/** The code blocks of the guides. */

/** Returns all pages of a folder. */
function guidesIn(folder: string): string[] {
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return paths.flatMap((path) => (path.endsWith(".md") ? `${folder}/${path}` : [])).sort();
}

/** Every guide whose commands can be run with nothing but this repository. `test/golden/README.md` needs a Triton. */
export const GUIDES: readonly string[] = [
  "README.md",
  "compile/README.md",
  ...guidesIn("scenarios"),
  ...guidesIn("src"),
  "test/README.md",
  "test/bench/README.md",
];

/** A fenced block. */
export interface CodeBlock {
  /** The first word behind the fence, such as `sh`. */
  readonly language: string;
  /** The second one: the file that the block shows. Empty: none. */
  readonly file: string;
  readonly text: string;
}

/** The blocks of a guide, in order. */
export function blocksOf(guide: string): CodeBlock[] {
  return readBlocks(readFileSync(join(ROOT, guide), "utf8"));
}

/** The blocks of a text in Markdown, in order. */
export function readBlocks(text: string): CodeBlock[] {
  return [...text.matchAll(/^```(\S*) ?(\S*)\n([\s\S]*?)^```$/gm)].map(([, language = "", file = "", shown = ""]) => ({
    language,
    file,
    text: shown,
  }));
}

/** The commands of a block; one that goes on in the next line is one. */
export function commandsOf({ text }: CodeBlock): string[] {
  return text
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
}
