import type { Flag } from "./flags.ts";

/** Options of Rampart's own commands for the files of a report. */
export const REPORT_FLAGS: readonly Flag[] = [
  {
    name: "json",
    value: "FILE",
    help: "Write the report as JSON, with histograms. - is standard output; the text then goes to stderr.",
  },
  { name: "csv", value: "FILE", help: "Write one row per level, in perf_analyzer's CSV layout." },
  {
    name: "profile-export-file",
    value: "FILE",
    help: "Write every request, in perf_analyzer's profile export layout.",
  },
];
