import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatStatements } from "../../test/golden/statements/statement.ts";
import { SECTIONS } from "../../test/golden/statements/table.ts";
import { replacePart } from "./generated-part.ts";
import { listGenaiPerfOptions, listPerfAnalyzerOptions } from "./option-lists.ts";
import { listPages } from "./pages.ts";
import { formatAssertions, formatChapter, formatCommands, formatFieldsOfScenario } from "./scenario-reference.ts";

/** The parts of guides that are made from the source. */

const root = join(import.meta.dirname, "..", "..");

/** One part of a guide. */
export interface GuidePart {
  /** From the repository's root. */
  readonly guide: string;
  /** As in the comment where it begins. */
  readonly name: string;
  /** Rows of tables that it has at least. */
  readonly leastRows: number;
  make(): string;
}

/** All of them. */
export const PARTS: readonly GuidePart[] = [
  { guide: "scenarios/reference/define-scenario.md", name: "fields", leastRows: 60, make: formatFieldsOfScenario },
  { guide: "scenarios/reference/targets.md", name: "targets", leastRows: 100, make: () => formatChapter("targets") },
  { guide: "scenarios/reference/loads.md", name: "loads", leastRows: 80, make: () => formatChapter("loads") },
  { guide: "scenarios/reference/inputs.md", name: "inputs", leastRows: 30, make: () => formatChapter("inputs") },
  {
    guide: "scenarios/reference/parameter-kinds.md",
    name: "parameters",
    leastRows: 10,
    make: () => formatChapter("parameters"),
  },
  { guide: "scenarios/reference/assertions.md", name: "assertions", leastRows: 40, make: formatAssertions },
  { guide: "scenarios/reference/commands.md", name: "commands", leastRows: 100, make: formatCommands },
  { guide: "scenarios/guide/README.md", name: "pages", leastRows: 40, make: listPages },
  {
    guide: "src/cli/perf-analyzer/README.md",
    name: "perf_analyzer options",
    leastRows: 80,
    make: listPerfAnalyzerOptions,
  },
  { guide: "src/cli/genai-perf/README.md", name: "genai-perf options", leastRows: 80, make: listGenaiPerfOptions },
  {
    guide: "test/golden/README.md",
    name: "statements of the documents",
    leastRows: 80,
    make: () => formatStatements(SECTIONS),
  },
];

/** The guide of a part, as it is and as it should be. */
export function refresh({ guide, name, make }: GuidePart): { path: string; before: string; after: string } {
  const path = join(root, guide);
  const before = readFileSync(path, "utf8");
  return { path, before, after: replacePart(before, name, make()) };
}
