import { cpus, release } from "node:os";
import { formatThreeDigits } from "../../../src/report/model/values.ts";
import { copyName } from "../clients.ts";
import { type Goal, judgeGoal, renderGoals, renderTable } from "../goals.ts";
import { median } from "../median.ts";
import { MODE_NAME, type Tool } from "./clients.ts";
import type { Truth } from "./truth.ts";

/** What a case is about, and so which columns it has. */
export interface Case {
  readonly title: string;
  readonly kind: "speed" | "truth" | "report";
  /** Goals of a case of many streams: how far times to first token may be from the server's after the first wave. */
  readonly mostAvgMs?: number;
  readonly mostP99Ms?: number;
}

/** One run of one tool. CPU time is that of the whole process tree, start and reports included; rates are the server's count. */
export interface Sample extends Partial<Truth> {
  readonly requestsPerSec: number;
  readonly chunks: number;
  readonly chunksPerSec: number;
  readonly cpuUsPerRequest: number;
  readonly cpuUsPerChunk: number;
  /** CPU time that the run takes more than a short one, per additional chunk. Absent if there was no short run. */
  readonly cpuUsPerFurther?: number;
  /** Cores that the server used meanwhile. */
  readonly stubCpuRatio: number;
  readonly wallMs: number;
  readonly peakMb: number;
}

/** Samples of every round, by case title and tool name. */
export type Samples = Map<string, Map<string, Sample[]>>;

type Field = keyof Sample;
type Middle = (title: string, tool: string, field: Field) => number;

const COLUMNS: Readonly<Record<Case["kind"], readonly (readonly [field: Field, head: string, digits: number])[]>> = {
  speed: [
    ["requestsPerSec", "requests/s", 0],
    ["chunksPerSec", "chunks/s", 0],
    ["cpuUsPerRequest", "CPU µs/request", 1],
    ["cpuUsPerChunk", "CPU µs/chunk", 2],
    ["cpuUsPerFurther", "without the start", 2],
    ["stubCpuRatio", "server's cores", 2],
    ["wallMs", "whole command ms", 0],
    ["peakMb", "peak MB", 0],
  ],
  truth: [
    ["ttftErrorAvgMs", "TTFT error avg ms", 2],
    ["ttftErrorP99Ms", "p99 ms", 2],
    ["laterErrorAvgMs", "after the first wave avg ms", 2],
    ["laterErrorP99Ms", "p99 ms", 2],
    ["itlErrorMs", "ITL error ms", 4],
    ["cpuUsPerChunk", "CPU µs/chunk", 2],
    ["peakMb", "peak MB", 0],
  ],
  report: [
    ["wallMs", "ms", 0],
    ["peakMb", "peak MB", 0],
  ],
};

/** The result as Markdown, and whether all goals are met; one whose numbers are missing is not. */
export function renderReport(
  cases: readonly Case[],
  tools: readonly Tool[],
  rounds: number,
  samples: Samples,
): { text: string; goals: readonly Goal[] } {
  const middle: Middle = (title, tool, field) =>
    median((samples.get(title)?.get(tool) ?? []).map((sample) => sample[field] ?? Number.NaN));
  const goals = judge(cases, middle);
  const versions = tools.flatMap(({ name, version }) => (version === "" ? [] : [`${name} ${version}`])).join(", ");
  const machine = `${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${cpus().length} cores, Linux ${release()}`;
  const date = new Date().toISOString().slice(0, 10);
  const head = `Measured ${date} on ${machine}; ${rounds} rounds interleaved, medians; ${versions}.`;
  const how =
    "Chat completions of the Go stub in test/servers/llm-stub, prompts of 50 tokens, one event and one write for each token. Rates are the stub's count from its first " +
    "request to its last response; CPU is user and system time of the tool's whole process tree, start and reports included; without the start it is what the run costs more than one of a fifth of its requests, for each chunk more. " +
    "The plain copy sends the same requests and reads streams for their ends only. Errors are the tool's recorded times " +
    "against those at which the stub wrote tokens; the first wave is the first request of each user, all of which begin in one moment.";
  const tables = cases.flatMap((one) => (samples.has(one.title) ? [renderCase(one, tools, middle)] : []));
  return {
    text: [head, how, ...tables, renderGoals(goals)].join("\n\n"),
    goals,
  };
}

function renderCase({ title, kind }: Case, tools: readonly Tool[], middle: Middle): string {
  const columns = COLUMNS[kind];
  const rows = tools.flatMap(({ name }) =>
    Number.isNaN(middle(title, name, "wallMs"))
      ? []
      : [[name, ...columns.map(([field, , digits]) => format(middle(title, name, field), digits))]],
  );
  return renderTable([title, ...columns.map(([, head]) => head)], rows);
}

function format(value: number, digits: number): string {
  if (Number.isNaN(value)) return "–";
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The goals of a bench. @param middle median of what a tool measured in a case */
export function judge(cases: readonly Case[], middle: Middle): Goal[] {
  const own = (title: string, field: Field): number => middle(title, "rampart", field);
  const isMany = cases.every(({ kind }) => kind === "truth");
  const goals = isMany ? cases.flatMap((one) => goalsOfMany(one, middle)) : usualGoals(cases, middle, own);
  return goals.map((goal) => judgeGoal(...goal));
}

/** Of a goal: text, measured, limit and the same of other tools. */
type Judged = [text: string, measured: number, limit: number | undefined, peers?: string];

/** The goals of a case of `bench:streams`. */
function goalsOfMany({ title, mostAvgMs, mostP99Ms }: Case, middle: Middle): Judged[] {
  const peers = (field: Field): string => describePeers(middle, title, field, "ms");
  return [
    [
      `${title}: TTFT error, average ms`,
      middle(title, "rampart", "laterErrorAvgMs"),
      mostAvgMs,
      peers("laterErrorAvgMs"),
    ],
    [`${title}: TTFT error, p99 ms`, middle(title, "rampart", "laterErrorP99Ms"), mostP99Ms, peers("laterErrorP99Ms")],
  ];
}

const TOOLS = ["rampart", MODE_NAME, "perf_analyzer", "genai-perf", "aiperf", copyName];

/** What each tool measured: `rampart 0.21, perf_analyzer 0.90 ms`. Empty where nothing was measured. */
function describePeers(middle: Middle, title: string, field: Field, unit: string): string {
  const known = TOOLS.map((tool) => [tool, middle(title, tool, field)] as const).filter(
    ([, value]) => !Number.isNaN(value),
  );
  return known.length === 0
    ? ""
    : `${known.map(([tool, value]) => `${tool} ${formatThreeDigits(value)}`).join(", ")} ${unit}`;
}

/** The goals of `bench:generative`: text, measured and limit. */
function usualGoals(cases: readonly Case[], middle: Middle, own: (title: string, field: Field) => number): Judged[] {
  const peers = (title: string, field: Field, unit: string): string => describePeers(middle, title, field, unit);
  const [json = "", stream = "", paced = "", report = "", large = "", short = ""] = cases.map(({ title }) => title);
  return [
    [
      "JSON responses: AIPerf's requests/s, of ours",
      middle(json, "aiperf", "requestsPerSec") / own(json, "requestsPerSec"),
      1 / 30,
      peers(json, "requestsPerSec", "requests/s"),
    ],
    [
      "JSON responses, the same command: perf_analyzer's requests/s, of ours",
      middle(json, "perf_analyzer", "requestsPerSec") / middle(json, MODE_NAME, "requestsPerSec"),
      1,
    ],
    [
      "streams, the same command: perf_analyzer's chunks/s, of ours",
      middle(stream, "perf_analyzer", "chunksPerSec") / middle(stream, MODE_NAME, "chunksPerSec"),
      1,
      peers(stream, "chunksPerSec", "chunks/s"),
    ],
    [
      "200 streams, the same command: perf_analyzer's chunks/s, of ours",
      middle(short, "perf_analyzer", "chunksPerSec") / middle(short, MODE_NAME, "chunksPerSec"),
      1,
      peers(short, "chunksPerSec", "chunks/s"),
    ],
    [
      "streams: CPU per chunk, of AIPerf's",
      own(stream, "cpuUsPerChunk") / middle(stream, "aiperf", "cpuUsPerChunk"),
      0.1,
    ],
    [
      "streams, perf_analyzer's command: CPU per chunk, µs",
      middle(stream, MODE_NAME, "cpuUsPerChunk"),
      3,
      peers(stream, "cpuUsPerChunk", "µs CPU/chunk"),
    ],
    [
      "streams, perf_analyzer's command: CPU per chunk without the start, µs",
      middle(stream, MODE_NAME, "cpuUsPerFurther"),
      3,
      peers(stream, "cpuUsPerFurther", "µs CPU/chunk"),
    ],
    ["streams, genai-perf's command: CPU per chunk, µs", own(stream, "cpuUsPerChunk"), 3],
    ["streams, genai-perf's command: CPU per chunk without the start, µs", own(stream, "cpuUsPerFurther"), 3],
    ["paced streams: TTFT error, average ms", own(paced, "ttftErrorAvgMs"), 1],
    ["paced streams: TTFT error, p99 ms", own(paced, "ttftErrorP99Ms"), 3],
    ["paced streams: ITL error, ms", Math.abs(own(paced, "itlErrorMs")), 0.02],
    ["start to report, s", own(report, "wallMs") / 1000, 1, peers(report, "wallMs", "ms")],
    ["start to report with 128,000 entries, s", own(large, "wallMs") / 1000, 3],
  ];
}
