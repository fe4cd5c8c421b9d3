import type { Report, TextSink } from "../report.ts";
import { formatRampartWarning } from "../warnings.ts";

/** Prints warnings during a run whose results are reported elsewhere. */
export function createRunWarnings(sink: TextSink): Report {
  return { onWarning: (warning) => sink.err(`${formatRampartWarning(warning)}\n`), finish: () => {} };
}
