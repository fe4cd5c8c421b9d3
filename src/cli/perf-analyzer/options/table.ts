import { type ParsedOptions, parseGetopt } from "../../options/getopt.ts";
import type { PerfAnalyzerOption, UngroupedOption } from "../settings.ts";
import { DEPRECATED } from "./deprecated.ts";
import { GENERAL } from "./general.ts";
import { INPUT } from "./input.ts";
import { LOAD } from "./load.ts";
import { MEASUREMENT } from "./measurement.ts";
import { OUTPUT } from "./output.ts";
import { RAMPART_OPTIONS } from "./rampart-options.ts";
import { SEQUENCES } from "./sequences.ts";
import { SERVER } from "./server.ts";
import { SHARED } from "./shared.ts";
import { TELEMETRY } from "./telemetry.ts";
import { TLS } from "./tls.ts";

/** All options of perf_analyzer mode, in the order of the help: for parsing, help, rules and the conversion of a plan to flags. */
export const OPTIONS: readonly PerfAnalyzerOption[] = [
  ...inGroup("What to measure", GENERAL),
  ...inGroup("Load and measurement", [...LOAD, ...SEQUENCES, ...MEASUREMENT]),
  ...inGroup("Input data", INPUT),
  ...inGroup("Server", [...SERVER, ...TLS]),
  ...inGroup("The server's metrics, and its trace settings during the run (set back afterwards)", TELEMETRY),
  ...inGroup("Results", OUTPUT),
  ...inGroup("Deprecated", DEPRECATED),
  ...inGroup("Rampart's own", [...RAMPART_OPTIONS, ...SHARED]),
];

/** A parsed command line of perf_analyzer. */
export type ParsedLine = ParsedOptions<PerfAnalyzerOption>;

/** Parses the arguments. Collects all problems and does not throw. */
export function parseOptions(args: readonly string[]): ParsedLine {
  return parseGetopt(OPTIONS, args);
}

function inGroup(group: string, options: readonly UngroupedOption[]): PerfAnalyzerOption[] {
  return options.map((option) => ({ ...option, group }));
}
