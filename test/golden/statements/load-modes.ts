import type { Section } from "./statement.ts";

/** Document 02: load modes. */

const S = "perf_analyzer -m simple -u {simple}";
const G = "perf_analyzer -m simple -u {grpcSimple} -i grpc";
const QUICK = "-p 40 -s 1000000";

export const LOADS: Section = {
  title: "02: load modes",
  statements: [
    {
      says: "`--concurrency-range=4` keeps 4 requests outstanding",
      run: `${S} --concurrency-range=4 ${QUICK}`,
      out: /Request concurrency: 4\n/,
      shownBy:
        "cli/perf-analyzer/effects-schedule.test.ts: --concurrency-range keeps each level's number of requests outstanding",
    },
    {
      says: "`--periodic-concurrency-range 10:100:30` adds 30 at a time, each time all of the last group have `--request-period` responses",
      run: `${G} --async --streaming --profile-export-file {out}/profile.json --periodic-concurrency-range 10:100:30 --request-period 1 --request-parameter max_tokens:256:int`,
      sent: 100,
      seen: /max_tokens/,
      shownBy:
        "cli/perf-analyzer/effects-sequences.test.ts: --periodic-concurrency-range sends groups of requests, paced by --request-period responses",
    },
    {
      says: "`--request-parameter max_tokens:256:uint` sends an int",
      run: `${G} --request-parameter max_tokens:256:uint --request-count 1`,
      seen: /max_tokens[^\n]*int64[^\n]*256/i,
      differs: "the original leaves `uint` out; Rampart sends an int64 where the value fits",
    },
    {
      says: "periodic concurrency is for gRPC only",
      run: `${S} --periodic-concurrency-range 1:4:1 --profile-export-file {out}/p.json`,
      refused: "The --periodic-concurrency-range option requires bi-directional gRPC streaming.",
    },
    {
      says: "periodic concurrency is for decoupled models only",
      run: `${G} --periodic-concurrency-range 1:4:1 --profile-export-file {out}/p.json`,
      refused: "The --periodic-concurrency-range option requires bi-directional gRPC streaming.",
      differs: "the original only asks for `--streaming` (transcript e77-periodic-nostream), and so does Rampart",
      shownBy: "transcript e77-periodic-nostream",
    },
    {
      says: "`--profile-export-file` must be given with periodic concurrency",
      run: `${G} --streaming --periodic-concurrency-range 1:4:1`,
      refused: "Must provide --profile-export-file when using the --periodic-concurrency-range option.",
      shownBy: "transcript e78-periodic-noexport",
    },
    {
      says: "`--request-rate-range=20` sends 20 requests per second",
      run: `${S} --request-rate-range=20 --request-count 20`,
      sent: 20,
      shownBy:
        "cli/perf-analyzer/effects-schedule.test.ts: --request-rate-range spaces requests evenly and never sends early",
    },
    {
      says: "`--request-intervals` sends at the sums of the intervals, and begins again at the end of the file",
      run: `${S} --request-intervals={dir}/gaps.txt ${QUICK}`,
      shownBy:
        "cli/perf-analyzer/effects-schedule.test.ts: --request-intervals sends at the file's gaps, over and over",
    },
  ],
};
