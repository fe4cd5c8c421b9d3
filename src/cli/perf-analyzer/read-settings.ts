import type { Problem } from "../../plan/problem.ts";
import { type ParsedOptions, parseGetopt } from "../options/getopt.ts";
import type { PerfAnalyzerOption } from "./options/option.ts";
import { OPTIONS } from "./options/table.ts";
import { Findings, ValueReader } from "./options/value-reader.ts";
import { Settings } from "./settings.ts";

/** Reads the settings of perf_analyzer mode from its command line. */

/** Settings with everything that is wrong and everything the user should know. */
export interface ReadSettings {
  readonly settings: Settings;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** Whole lines for stderr, in the original's words. */
  readonly lines: readonly string[];
}

/** A command line of perf_analyzer, split by `getopt_long`'s rules. */
export type ParsedLine = ParsedOptions<PerfAnalyzerOption>;

/** Splits the arguments. Every problem is collected; nothing is thrown. */
export function parseOptions(args: readonly string[]): ParsedLine {
  return parseGetopt(OPTIONS, args);
}

/** Reads the values of all options given. @param settings what they are laid over, which is changed. Default: perf_analyzer's defaults */
export function readSettings({ given, positional, problems }: ParsedLine, settings = new Settings()): ReadSettings {
  const findings = new Findings();
  for (const { option, value } of given) {
    option.read(settings, value ?? "", new ValueReader(option, value, findings));
    settings.given = new Set([...settings.given, option.names[0]]);
  }
  // perf_analyzer ignores them too, without a warning.
  for (const argument of positional)
    findings.warnings.push(`'${argument}' is ignored: perf_analyzer takes no arguments besides flags.`);
  const { warnings, lines } = findings;
  return { settings, problems: [...problems, ...findings.problems], warnings, lines };
}
