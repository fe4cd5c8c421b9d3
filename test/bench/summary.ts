import { formatThreeDigits } from "../../src/report/model/values.ts";
import { type Goal, judgeGoal, renderTable, verdictOf } from "./goals.ts";

/** The one table of all goals, of what each bench measured last. */

/** The command of each bench, by the name of its part in the guide. */
const COMMANDS = {
  bench: "npm run bench",
  "bench:generative": "npm run bench:generative",
  "bench:streams": "npm run bench:streams",
  "bench:wire": "npm run bench:wire",
  "bench:connections": "npm run bench:connections",
  "bench:agents": "npm run bench:agents",
  "bench:allocations": "npm run bench:allocations",
  "bench:exports": "npm run bench:exports",
  "bench:coverage": "npm run bench:coverage",
  "bench:find-max": "npm run bench:find-max",
  instructions: "npm run bench -- --only instructions",
  memory: "npm run bench -- --memory --minutes 30",
} as const;

/** A bench. */
export type Bench = keyof typeof COMMANDS;

/** A goal as it was measured last. */
export interface StoredGoal extends Pick<Goal, "text" | "limit" | "peers"> {
  /** Absent: it was not measured. */
  readonly measured?: number;
  /** Of a run of a part, after the whole one. */
  readonly date?: string;
}

/** What one bench measured last. Goals without a value were not measured. */
export interface Figures {
  readonly date: string;
  readonly machine: string;
  readonly goals: readonly StoredGoal[];
}

/** What the benches measured last. */
export type StoredFigures = Partial<Record<Bench, Figures>>;

/** A row: a goal of a bench, by its text. */
export interface SummaryRow {
  readonly bench: Bench;
  readonly text: string;
  /** What `--only` selects. Default: the whole bench. */
  readonly only?: string;
  /** What two cores that are shared cannot show, and the command that shows it elsewhere. */
  readonly elsewhere?: string;
}

const OWN_CORES =
  "client and server have a core each here; on more, threads of the client have cores of their own: `npm run bench:streams -- --workers 4`";

/** The rows in their order. */
export const SUMMARY: readonly SummaryRow[] = [
  ...["HTTP, 16 concurrent", "HTTP, 256 concurrent"].flatMap((only) => costs(only, "wrk's")),
  ...["gRPC, 16 concurrent", "gRPC, 256 concurrent"].flatMap((only) => costs(only, "perf_analyzer's")),
  bench("gRPC streams, 16 concurrent: CPU per request, of perf_analyzer's", "gRPC streams, 16 concurrent"),
  row("bench:generative", "streams, perf_analyzer's command: CPU per chunk, µs"),
  row("bench:generative", "streams, perf_analyzer's command: CPU per chunk without the start, µs"),
  row("bench:generative", "streams, genai-perf's command: CPU per chunk, µs"),
  row("bench:generative", "streams, genai-perf's command: CPU per chunk without the start, µs"),
  row("bench:generative", "streams, the same command: perf_analyzer's chunks/s, of ours"),
  row("bench:generative", "200 streams, the same command: perf_analyzer's chunks/s, of ours"),
  bench("HTTP, tensors of 1 MiB, 16 concurrent: requests/s of the plain copy, of ours", "1 MiB"),
  bench("HTTP: CPU per request in shared memory, of plain", "HTTP"),
  bench("gRPC: CPU per request in shared memory, of plain", "gRPC"),
  {
    ...bench("HTTP, 256 concurrent: requests/s of one thread, of those of two", "256 concurrent"),
    elsewhere:
      'the server shares the two cores, and is the limit; with four or more it is judged (at most 0.625): `npm run bench -- --only "256 concurrent"`',
  },
  ...["HTTP, 16 concurrent", "gRPC, 16 concurrent", "gRPC streams, 16 concurrent"].map((what) =>
    row("instructions", `${what}: instructions per request`),
  ),
  ...["HTTP, a request", "gRPC, a request", "gRPC streams, a request", "tokens, a chunk"].map((what) =>
    row("bench:allocations", `${what}: bytes that our code allocates`),
  ),
  ...["HTTP", "gRPC"].map((way) => bench(`${way} rate of 5,000/s: p99 lateness at the server, ms`, "rate of 5,000")),
  bench("HTTP rate of 30,000/s: p99 lateness at the server, ms", "rate of 30,000"),
  {
    ...bench("HTTP rate of 30,000/s, two threads that send: p99 lateness at the server, ms", "rate of 30,000"),
    elsewhere:
      'both threads share the core that is not the server\'s; with four or more cores it is judged (at most 1): `npm run bench -- --only "rate of 30,000"`',
  },
  ...[500, 2000, 10_000, 18_000].flatMap((count) => manyStreams(count)),
  row("bench:wire", "TTFT error by tcpdump, with two busy processes, ms"),
  ...["HTTP", "token streams", "token streams, genai-perf mode"].flatMap((what) => [
    row("memory", `${what}, everything recorded: peak MB`),
    row("memory", `${what}, everything recorded: slope, MB an hour`),
    row("memory", `${what}, everything recorded: growth for certain, MB an hour`),
  ]),
  row("bench:connections", "50,000 connections: missing or failed"),
  row("bench:connections", "50,000 connections: client KiB each"),
  row("bench:connections", "20,000 streams: missing or failed"),
  row("bench:connections", "20,000 streams: client KiB each"),
  row("bench:agents", "500 agents: requests missing"),
  {
    ...row("bench:agents", "500 agents: messages/s"),
    elsewhere:
      "1,000 agents need more than two cores, as all of them run here: `npm run bench:agents -- --agents 1000`",
  },
  row("bench:exports", "compare of 10,000,000 requests: peak MB"),
  row("bench:exports", "process-export-files of 10,000,000 requests: peak MB"),
  row("bench:coverage", "intervals that miss the truth, %"),
  row("bench:find-max", "searches that are not right, %"),
  ...["HTTP", "gRPC"].map((way) => bench(`${way}: start to first request, ms`, "start")),
];

/** The goals of a case's CPU time: of a whole run, and of a request that it sends more than a short one. */
function costs(only: string, peer: string): readonly SummaryRow[] {
  return ["CPU per request", "CPU per request without the start"].map((what) =>
    bench(`${only}: ${what}, of ${peer}`, only),
  );
}

function row(bench: Bench, text: string): SummaryRow {
  return { bench, text };
}

function bench(text: string, only: string): SummaryRow {
  return { bench: "bench", text, only };
}

function manyStreams(count: number): readonly SummaryRow[] {
  const itlMs = { 500: 50, 2000: 50, 10000: 250 }[count] ?? 500;
  const title = `${count.toLocaleString("en")} streams at once with a token each ${itlMs} ms, a core each`;
  return ["average ms", "p99 ms"].map((what) => ({
    ...row("bench:streams", `${title}: TTFT error, ${what}`),
    only: count.toLocaleString("en"),
    elsewhere: OWN_CORES,
  }));
}

/** The table of all goals, and below it what two shared cores cannot show. */
export function renderSummary(figures: StoredFigures, rows: readonly SummaryRow[] = SUMMARY): string {
  const table = renderTable(
    ["goal", "measured", "at most", "", "date", "all tools", "command"],
    rows.map((one) => renderRow(one, figures[one.bench])),
  );
  const notes = Map.groupBy(
    rows.filter(({ elsewhere }) => elsewhere !== undefined),
    ({ elsewhere }) => elsewhere ?? "",
  );
  const lines = [...notes].map(([elsewhere, [first]]) => `- *${first?.text}*: ${elsewhere}.`);
  return [table, ...(lines.length === 0 ? [] : ["What two shared cores cannot show:", lines.join("\n")])].join("\n\n");
}

function renderRow({ bench, text, only }: SummaryRow, figures: Figures | undefined): string[] {
  const stored = figures?.goals.find((goal) => goal.text === text);
  const goal = judgeGoal(text, stored?.measured ?? Number.NaN, stored?.limit);
  const isMeasured = !Number.isNaN(goal.measured);
  return [
    text,
    isMeasured ? formatThreeDigits(goal.measured) : "–",
    goal.limit === undefined ? "–" : formatThreeDigits(goal.limit),
    verdictOf(goal),
    isMeasured ? (stored?.date ?? figures?.date ?? "") : "",
    stored?.peers ?? "",
    `\`${COMMANDS[bench]}${only === undefined ? "" : ` -- --only "${only}"`}\``,
  ];
}
