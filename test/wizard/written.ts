import { parseOptions } from "../../src/cli/perf-analyzer/options/table.ts";
import { readSettings } from "../../src/cli/perf-analyzer/settings.ts";
import { toPlan as toPlanOfFlags } from "../../src/cli/perf-analyzer/to-plan.ts";
import type { Plan } from "../../src/plan/plan.ts";

/** What the wizard prints besides the scenario. */

/** The plan of the perf_analyzer command line that the wizard printed. Throws when it is none. */
export function planOfPrintedFlags(out: string): Plan {
  const line = /^ {2}rampart perf_analyzer (.*)$/m.exec(out)?.[1];
  if (line === undefined) throw new Error(`no flags were printed:\n${out}`);
  const { settings, problems } = readSettings(parseOptions(splitWords(line)));
  const built = toPlanOfFlags(settings);
  const all = [...problems, ...built.problems];
  if (all.length > 0) throw new Error(all.map(({ path, message }) => `${path} ${message}`).join("; "));
  return built.plan;
}

/** As a POSIX shell does for words in single quotes and plain ones. */
function splitWords(line: string): string[] {
  return (line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? []).map((word) =>
    word.replace(/'([^']*)'|\\(.)/g, (_all, quoted?: string, escaped?: string) => quoted ?? escaped ?? ""),
  );
}
