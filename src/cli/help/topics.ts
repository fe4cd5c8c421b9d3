import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { TextSink } from "../../report/report.ts";
import { temporaryFolder } from "../../runtime/temporary-file.ts";
import { readGuide } from "./guides.ts";
import { formatMarkdown } from "./markdown.ts";

const MAX_COLUMNS = 110;

/** Kinds of guides, in the order of help. */
const KINDS = ["Guides", "Concepts", "Recipes", "Reference"] as const;

/** A topic of `rampart help`: a guide of the repository. */
export interface Topic {
  readonly name: string;
  readonly kind: (typeof KINDS)[number];
  readonly summary: string;
  /** Path of the guide from the repository's root. */
  readonly guide: string;
}

/** The pages on scenarios. A topic has the name of its file. */
const PAGES: readonly (readonly [folder: string, kind: Topic["kind"], pages: Readonly<Record<string, string>>])[] = [
  [
    "guide",
    "Concepts",
    {
      words: "the words of load tests: latency, concurrency, percentile, TTFT and others",
      "by-address": "rampart llm and rampart triton: knee, SLO and price without a scenario",
      wizard: "how to get a scenario without writing one",
      "in-an-editor": "types for editors, rampart check, and other ways to run a scenario",
      "ci-gate": "a gate in CI, with the whole workflow file",
      "choose-a-target": "which target a server needs, and what each takes",
      "own-protocol": "a target for a protocol of your own",
      "choose-a-load": "which load answers which question: users, rates, schedules",
      users: "think time, and conversations for a time or at a rate",
      phases: "loads that follow each other in one run",
      "make-inputs": "inputs from functions, folders, recorded conversations and traces",
      chains: "requests that need each other: log in once, then call",
      "language-models": "prompts, token metrics and tokenizers",
      "find-max": "how findMax finds the highest load under an SLO",
      mlperf: "MLPerf's scenarios",
      "mix-and-tags": "several targets under one load, and metrics by tag",
      "own-loads": "perTarget: several targets at the same time, each with its own load",
      "own-metrics": "values of responses, and metrics computed from others",
      "pass-or-fail": "when an assertion passes, and all exit codes",
      "trust-a-number": "independent samples, intervals, repeated runs",
      "limits-of-this-host": "loads that are too much for this host, long runs, large files",
      "while-it-runs": "the live view, Prometheus and OpenTelemetry",
      reports: "the files that a run writes: page, JSON, CSV, JUnit, records",
      sweeps: "one scenario over many values, in one report",
      "two-targets": "ab: two targets in alternating blocks, and which is better",
      "compare-runs": "how to compare runs, and fail on a regression",
      "without-code": "scenarios in YAML and JSON",
      "test-server": "what rampart mock serves",
    },
  ],
  [
    "recipes",
    "Recipes",
    {
      "find-the-limit": "how much load does the server take within my limits?",
      "unstable-run": "why was a run unstable, and what helps?",
      "compare-two-servers": "which of two servers is faster?",
      "compare-two-models": "which of two models is faster, in one run?",
      "http-server": "how fast is any HTTP server?",
      "replay-traffic": "how does it do under recorded traffic?",
      "soak-and-spike": "does it stay fast for hours, and recover from a peak?",
      "check-responses": "are the responses right, and what happened to each request?",
      "start-a-server": "how does a scenario start and stop its own server?",
      parameters: "how does one scenario serve many values?",
    },
  ],
  [
    "reference",
    "Reference",
    {
      "define-scenario": "all fields of a scenario",
      targets: "all targets with their options",
      loads: "all loads with their options",
      inputs: "all inputs with their options",
      assertions: "all assertions and metrics",
      "parameter-kinds": "all kinds of parameters",
      commands: "all options of the commands",
    },
  ],
];

/** The topics in the order of help. */
export const TOPICS: readonly Topic[] = [
  { name: "quickstart", kind: "Guides", summary: "what Rampart is, and its first commands", guide: "README.md" },
  { name: "scenarios", kind: "Guides", summary: "the tutorial: load tests step by step", guide: "scenarios/README.md" },
  {
    name: "guides",
    kind: "Guides",
    summary: "the list of all recipes and concepts",
    guide: "scenarios/guide/README.md",
  },
  {
    name: "perf_analyzer",
    kind: "Guides",
    summary: "perf_analyzer mode: what differs from the original, all options",
    guide: "src/cli/perf-analyzer/README.md",
  },
  {
    name: "genai-perf",
    kind: "Guides",
    summary: "GenAI-Perf mode: what differs from the original, all options",
    guide: "src/cli/genai-perf/README.md",
  },
  {
    name: "measuring",
    kind: "Concepts",
    summary: "how numbers are measured and what to trust",
    guide: "src/measure/README.md",
  },
  {
    name: "hosts",
    kind: "Concepts",
    summary: "how several cores and hosts send one load",
    guide: "src/run/fleet/README.md",
  },
  {
    name: "house",
    kind: "Guides",
    summary: "how the source is organised, for those who change it",
    guide: "src/README.md",
  },
  ...PAGES.flatMap(([folder, kind, pages]) =>
    Object.entries(pages).map(([name, summary]) => ({ name, kind, summary, guide: `scenarios/${folder}/${name}.md` })),
  ),
];

/** Returns the topics by kind, in the order of help. */
export function topicsByKind(): [kind: string, topics: readonly Topic[]][] {
  return KINDS.map((kind) => [kind, TOPICS.filter((topic) => topic.kind === kind)]);
}

/** Prints a topic. Returns whether it exists. */
export function printTopic(name: string, io: TextSink): boolean {
  const topic = TOPICS.find((entry) => entry.name === name);
  if (topic === undefined) return false;
  const columns = Math.min(MAX_COLUMNS, process.stdout.columns || MAX_COLUMNS);
  const text = formatMarkdown(readGuide(topic.guide), {
    columns,
    describeLink: (target) => describeLink(topic.guide, target),
  });
  printPaged(text, io);
  return true;
}

/** Default options of `less`: quit if the text fits on one screen, keep colours, leave the text on the screen. */
const LESS = "FRX";

/**
 * Prints a text. If it is longer than the terminal, it is shown with the program in PAGER, by default `less`. An empty PAGER means
 * none, and so does a pager that cannot be started.
 */
function printPaged(text: string, io: TextSink): void {
  const { PAGER, LESS: given = LESS, TERM } = process.env;
  const pager = PAGER ?? "less";
  const isLong = process.stdout.isTTY === true && text.split("\n").length > (process.stdout.rows || Infinity);
  if (!isLong || pager.trim() === "" || TERM === "dumb") {
    io.out(text);
    return;
  }
  // Uses a file, because a pager that ends before it has read everything breaks a pipe, which looks like a pager that
  // could not be started.
  const folder = mkdtempSync(join(temporaryFolder(), "rampart-help-"));
  const file = join(folder, "text");
  // Ctrl-C is for the pager, which returns to its prompt.
  const ignore = (): void => {};
  process.on("SIGINT", ignore);
  try {
    writeFileSync(file, text);
    const { status, error } = spawnSync(`(${pager}) < ${process.platform === "win32" ? "%FILE%" : '"$FILE"'}`, {
      shell: true,
      env: { ...process.env, LESS: given, FILE: file },
      // The shell's message that `less` is missing does not help users.
      stdio: ["inherit", "inherit", PAGER === undefined ? "ignore" : "inherit"],
    });
    // Exit codes of a shell for a missing program, or a file that is not a program.
    if (error !== undefined || status === 127 || status === 126) io.out(text);
  } finally {
    process.off("SIGINT", ignore);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Describes a link's target for a terminal: a guide's topic, or the address itself. */
function describeLink(guide: string, target: string): string {
  const path = posix.join(posix.dirname(guide), target.replace(/#.*/, ""));
  const topic = TOPICS.find((entry) => entry.guide === path);
  return topic === undefined ? target : `rampart help ${topic.name}`;
}
