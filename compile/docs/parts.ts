import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatStatements } from "../../test/golden/statements/statement.ts";
import { SECTIONS } from "../../test/golden/statements/table.ts";
import { replacePart } from "./generated-part.ts";
import { listGenaiPerfOptions, listPerfAnalyzerOptions } from "./option-lists.ts";
import { formatScenarioReference } from "./scenario-reference.ts";

/** The parts of guides that are made from the source. */

const root = join(import.meta.dirname, "..", "..");

/** One part of a guide. */
export interface GuidePart {
  /** From the repository's root. */
  readonly guide: string;
  /** As in the comment where it begins. */
  readonly name: string;
  make(): string;
}

/** All of them. */
export const PARTS: readonly GuidePart[] = [
  { guide: "scenarios/README.md", name: "scenario reference", make: formatScenarioReference },
  { guide: "src/cli/perf-analyzer/README.md", name: "perf_analyzer options", make: listPerfAnalyzerOptions },
  { guide: "src/cli/genai-perf/README.md", name: "genai-perf options", make: listGenaiPerfOptions },
  { guide: "test/golden/README.md", name: "statements of the documents", make: () => formatStatements(SECTIONS) },
];

/** The guide of a part, as it is and as it should be. */
export function refresh({ guide, name, make }: GuidePart): { path: string; before: string; after: string } {
  const path = join(root, guide);
  const before = readFileSync(path, "utf8");
  return { path, before, after: replacePart(before, name, make()) };
}
