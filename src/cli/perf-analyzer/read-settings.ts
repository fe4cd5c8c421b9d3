import type { Problem } from "../../plan/problem.ts";
import { type ParsedOptions, parseGetopt } from "../options/getopt.ts";
import type { PerfAnalyzerOption } from "./options/option.ts";
import { OPTIONS } from "./options/table.ts";
import { Findings, ValueReader } from "./options/value-reader.ts";
import { Settings } from "./settings.ts";

/** Settings, with all problems and warnings. */
export interface ReadSettings {
  readonly settings: Settings;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** Whole lines for stderr, in perf_analyzer's words. */
  readonly lines: readonly string[];
}

/** A parsed command line of perf_analyzer. */
export type ParsedLine = ParsedOptions<PerfAnalyzerOption>;

/** Parses the arguments. Collects all problems and throws nothing. */
export function parseOptions(args: readonly string[]): ParsedLine {
  return parseGetopt(OPTIONS, args);
}

/** Reads the values of all given options. @param settings initial settings, which are modified. Default: perf_analyzer's defaults */
export function readSettings({ given, positional, problems }: ParsedLine, settings = new Settings()): ReadSettings {
  const findings = new Findings();
  for (const { option, value } of given) {
    option.read(settings, value ?? "", new ValueReader(option, value, findings));
    settings.given = new Set([...settings.given, option.names[0]]);
  }
  // perf_analyzer ignores them too, but without a warning.
  for (const argument of positional)
    findings.warnings.push(`'${argument}' is ignored: perf_analyzer takes no arguments besides flags.`);
  const { warnings, lines } = findings;
  return { settings, problems: [...problems, ...findings.problems], warnings, lines };
}
