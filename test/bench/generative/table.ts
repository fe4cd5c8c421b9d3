import { cpus, release } from "node:os";
import { median } from "../median.ts";
import { type Goal, renderGoals, renderTable } from "../table.ts";
import type { Tool } from "./clients.ts";
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
  readonly chunksPerSec: number;
  readonly cpuUsPerRequest: number;
  readonly cpuUsPerChunk: number;
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
    ["stubCpuRatio", "server's cores", 2],
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
): { text: string; isPassed: boolean } {
  const middle: Middle = (title, tool, field) =>
    median((samples.get(title)?.get(tool) ?? []).map((sample) => sample[field] ?? Number.NaN));
  const goals = judge(cases, middle);
  const versions = tools.flatMap(({ name, version }) => (version === "" ? [] : [`${name} ${version}`])).join(", ");
  const machine = `${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${cpus().length} cores, Linux ${release()}`;
  const date = new Date().toISOString().slice(0, 10);
  const head = `Measured ${date} on ${machine}; ${rounds} rounds interleaved, medians; ${versions}.`;
  const how =
    "Chat completions of the Go stub in test/servers/llm-stub, prompts of 50 tokens, one event and one write for each token. Rates are the stub's count from its first " +
    "request to its last response; CPU is user and system time of the tool's whole process tree, start and reports included. Errors are the tool's recorded times " +
    "against those at which the stub wrote tokens; the first wave is the first request of each user, all of which begin in one moment.";
  const tables = cases.flatMap((one) => (samples.has(one.title) ? [renderCase(one, tools, middle)] : []));
  return {
    text: [head, how, ...tables, renderGoals(goals)].join("\n\n"),
    isPassed: goals.every(({ passed }) => passed),
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

function judge(cases: readonly Case[], middle: Middle): Goal[] {
  const own = (title: string, field: Field): number => middle(title, "rampart", field);
  const many = cases.flatMap(({ title, mostAvgMs, mostP99Ms }): [string, number, number][] =>
    mostAvgMs === undefined || mostP99Ms === undefined
      ? []
      : [
          [`${title}: TTFT error, average ms`, own(title, "laterErrorAvgMs"), mostAvgMs],
          [`${title}: TTFT error, p99 ms`, own(title, "laterErrorP99Ms"), mostP99Ms],
        ],
  );
  const goals = cases.some(({ kind }) => kind === "speed") ? usualGoals(cases, middle, own) : many;
  return goals.map(([text, measured, limit]) => ({ text, measured, limit, passed: measured <= limit }));
}

/** The goals of `bench:generative`: text, measured and limit. */
function usualGoals(
  cases: readonly Case[],
  middle: Middle,
  own: (title: string, field: Field) => number,
): [text: string, measured: number, limit: number][] {
  const [json = "", stream = "", paced = "", report = "", large = "", short = ""] = cases.map(({ title }) => title);
  return [
    [
      "JSON responses: AIPerf's requests/s, of ours",
      middle(json, "aiperf", "requestsPerSec") / own(json, "requestsPerSec"),
      1 / 30,
    ],
    [
      "JSON responses: perf_analyzer's requests/s, of ours",
      middle(json, "perf_analyzer", "requestsPerSec") / own(json, "requestsPerSec"),
      1,
    ],
    [
      "streams: perf_analyzer's chunks/s, of ours",
      middle(stream, "perf_analyzer", "chunksPerSec") / own(stream, "chunksPerSec"),
      1,
    ],
    [
      "200 streams: perf_analyzer's chunks/s, of ours",
      middle(short, "perf_analyzer", "chunksPerSec") / own(short, "chunksPerSec"),
      1,
    ],
    [
      "streams: CPU per chunk, of AIPerf's",
      own(stream, "cpuUsPerChunk") / middle(stream, "aiperf", "cpuUsPerChunk"),
      0.1,
    ],
    ["streams: CPU per chunk, µs", own(stream, "cpuUsPerChunk"), 3],
    ["paced streams: TTFT error, average ms", own(paced, "ttftErrorAvgMs"), 1],
    ["paced streams: TTFT error, p99 ms", own(paced, "ttftErrorP99Ms"), 3],
    ["paced streams: ITL error, ms", Math.abs(own(paced, "itlErrorMs")), 0.02],
    ["start to report, s", own(report, "wallMs") / 1000, 1],
    ["start to report with 128,000 entries, s", own(large, "wallMs") / 1000, 3],
  ];
}
