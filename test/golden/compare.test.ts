import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compare, type Outcome } from "./compare.ts";
import { ACCIDENTS } from "./normalise.ts";
import type { Transcript } from "./transcript.ts";

const measured: Transcript = {
  name: "measured",
  args: ["-m", "simple"],
  server: "triton",
  rankCount: undefined,
  exitCode: 0,
  names: [],
  isTimed: true,
  shortWindowMs: undefined,
  latencyLimitMs: undefined,
  stdout: ["Request concurrency: 2", "  Pass [...] throughput: N infer/sec.", "    p99 latency: N usec"],
  stderr: ["WARNING: a", "WARNING: b"],
  csv: ["Concurrency,Inferences/Second,p99 latency", "1,N,N", "2,N,N", "rows by throughput: ascending"],
  profile: undefined,
  composingCsv: { "leaf_v1.out.csv": ["Concurrency,Client Send", "1,N", "rows by throughput: ascending"] },
};

const refused: Transcript = {
  ...measured,
  name: "refused",
  exitCode: 99,
  names: ["--percentile", "10"],
  stdout: [],
  stderr: ["Error: --percentile is 10"],
  csv: undefined,
  composingCsv: {},
};

const good: Outcome = {
  exitCode: 0,
  stdout: [
    "Request concurrency: 2",
    "  Pass [1] throughput: 12.5 infer/sec.",
    "  Pass [2] throughput: 1e+06 infer/sec.",
    "  Pass [3] throughput: 3 infer/sec.",
    "    p99 latency: 1234 usec",
    String(ACCIDENTS.at(-1)),
    "",
  ].join("\n"),
  stderr: "rampart: a note\nWARNING: b\nWARNING: a\nWARNING: b\n",
  csv: "Concurrency,Inferences/Second,p99 latency\n2,10.5,99\n1,20,100\n",
  profile: undefined,
  composingCsv: { "leaf_v1.out.csv": "Concurrency,Client Send\n1,0\n" },
};

const refusal: Outcome = {
  ...good,
  exitCode: 99,
  stdout: "",
  stderr: "Error: --percentile is 10\n",
  csv: undefined,
  composingCsv: {},
};

/** Two ranks, whose lines come as they happen. */
const job: Transcript = {
  ...measured,
  name: "job",
  rankCount: 2,
  stdout: ["Batch size: 1", "Request concurrency: 2", "Batch size: 1", "Request concurrency: 2"],
  stderr: ["WARNING: a"],
  csv: undefined,
  composingCsv: {},
};

const jobOutcome: Outcome = {
  ...refusal,
  exitCode: 0,
  stdout: [
    "[1,0]<stdout>:Batch size: 1",
    "[1,0]<stdout>:Request concurrency: 2",
    "[1,1]<stdout>:Batch size: 1",
    "[1,1]<stdout>:Request concurrency: 2",
    "",
  ].join("\n"),
  stderr: "[1,1]<stderr>:WARNING: a\nPrimary job terminated normally\n",
};

const cases: { title: string; transcript: Transcript; outcome: Outcome; differences: string[] }[] = [
  { title: "numbers, windows and accidents", transcript: measured, outcome: good, differences: [] },
  { title: "the ranks of a job, without mpirun's own lines", transcript: job, outcome: jobOutcome, differences: [] },
  {
    title: "a rank that printed less",
    transcript: job,
    outcome: { ...jobOutcome, stdout: jobOutcome.stdout.replace("[1,1]<stdout>:Request concurrency: 2\n", "") },
    differences: ["stdout:", "  - Request concurrency: 2"],
  },
  {
    title: "another exit code",
    transcript: measured,
    outcome: { ...good, exitCode: 2 },
    differences: ["exit code 2 instead of 0"],
  },
  {
    title: "another level",
    transcript: measured,
    outcome: { ...good, stdout: good.stdout.replace("concurrency: 2", "concurrency: 3") },
    differences: ["stdout:", "  - Request concurrency: 2", "  + Request concurrency: 3"],
  },
  {
    title: "a missing warning",
    transcript: measured,
    outcome: { ...good, stderr: "WARNING: b\n" },
    differences: ["stderr:", "  - WARNING: a"],
  },
  {
    title: "an empty cell and rows that are not sorted",
    transcript: measured,
    outcome: { ...good, csv: "Concurrency,Inferences/Second,p99 latency\n1,20,\n2,10.5,99\n" },
    differences: [
      "csv:",
      "  - 1,N,N",
      "  + 1,N,",
      "  - rows by throughput: ascending",
      "  + rows by throughput: in another order",
    ],
  },
  {
    title: "another model's file",
    transcript: measured,
    outcome: { ...good, composingCsv: { "twig_v1.out.csv": "Concurrency\n" } },
    differences: [
      "leaf_v1.out.csv:",
      "  - Concurrency,Client Send",
      "  - 1,N",
      "  - rows by throughput: ascending",
      "twig_v1.out.csv:",
      "  + Concurrency",
      "  + rows by throughput: ascending",
    ],
  },
  { title: "an error", transcript: refused, outcome: refusal, differences: [] },
  {
    title: "another text and another value",
    transcript: refused,
    outcome: { ...refusal, stderr: "Error: --percentile is 100\n" },
    differences: [
      "stderr:",
      "  - Error: --percentile is 10",
      "  + Error: --percentile is 100",
      "stderr does not name 10",
    ],
  },
  {
    title: "an error found before anything is printed",
    transcript: { ...refused, stdout: ["Request concurrency: 1"] },
    outcome: refusal,
    differences: ["stdout:", "  - Request concurrency: 1"],
  },
  {
    title: "no hint at how to go on after a failed request, nor help",
    transcript: refused,
    outcome: {
      ...refusal,
      stderr: `${refusal.stderr}Raise --max-error-rate to measure despite failed requests.\nSee rampart perf_analyzer --help.\n`,
    },
    differences: [],
  },
  {
    title: "help as one line, whatever it says",
    transcript: { ...refused, stdout: ["Usage: …"] },
    outcome: { ...refusal, stdout: "Usage: rampart perf_analyzer -m MODEL\n\n  -b N\n" },
    differences: [],
  },
];

describe("comparing a run with a transcript", () => {
  for (const { title, transcript, outcome, differences } of cases) {
    test(`${differences.length === 0 ? "accepts" : "shows"} ${title}`, () => {
      assert.deepEqual(compare(transcript, outcome), differences);
    });
  }
});
