// npm run bench:generative [-- --rounds N --executable FILE --baseline FILE --only TEXT --memory]
//
// Measures `rampart genai-perf` against AIPerf, GenAI-Perf and the perf_analyzer below it, interleaved, on a Go stub of a language model that
// counts requests and notes when tokens leave. Exits with 1 when a goal is missed. --memory runs 100,000 streams and looks at memory instead. --baseline adds the
// rows of an earlier executable.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type LlmStub, type LlmStubOptions, startLlmStub } from "../../servers/llm-stub.ts";
import { tinyTokenizer } from "../../servers/tiny-llama.ts";
import { baselineName, benchFolder, root } from "../clients.ts";
import { buildMeasure, runMeasured } from "../measure.ts";
import { chooseCores } from "../pin.ts";
import { writeFigures } from "../write-figures.ts";
import { type Load, openTools, type Tool } from "./clients.ts";
import { makeLargeTokenizer } from "./large-tokenizer.ts";
import { measureMemory } from "./memory.ts";
import { type Case, renderReport, type Sample, type Samples } from "./table.ts";
import { compareWithServer } from "./truth.ts";

const RUN_LIMIT_S = 110;
const PACED_TOKENS = 20;
const LARGE_VOCABULARY = 128_000;
const REPORT_REQUESTS = 20;

const PACED: LlmStubOptions = { ttftMs: 50, itlMs: 10, tokens: PACED_TOKENS };
/** In 25 s: the first wave of requests, which meets a server that has not served yet, is a hundredth of them. */
const PACED_LOAD: Load = { isStreaming: true, concurrency: 100, requests: 10_000 };

const CASES: readonly (Case & {
  readonly stub: LlmStubOptions;
  /** Client and server are held to a core each. Default: both run where the system lets them. */
  readonly isPinned?: boolean;
  readonly loadOf: (tool: string) => Load | undefined;
})[] = [
  {
    title: "JSON responses, 16 concurrent",
    kind: "speed",
    stub: { tokens: 20 },
    loadOf: (tool) => ({ isStreaming: false, concurrency: 16, requests: countFor(tool, 100_000, 3000) }),
  },
  {
    title: "streams of 100 tokens, 16 concurrent",
    kind: "speed",
    stub: {},
    loadOf: (tool) => ({ isStreaming: true, concurrency: 16, requests: tool.endsWith("perf") ? 1000 : 10_000 }),
  },
  {
    title: "streams with 50 ms to the first token and 10 ms between tokens, 100 concurrent",
    kind: "truth",
    stub: PACED,
    loadOf: () => PACED_LOAD,
  },
  {
    title: "start to report, 20 requests",
    kind: "report",
    stub: { tokens: 20 },
    loadOf: () => ({ isStreaming: true, concurrency: 1, requests: REPORT_REQUESTS }),
  },
  {
    title: "start to report, 20 requests, a tokenizer of 128,000 entries",
    kind: "report",
    stub: { tokens: 20 },
    loadOf: (tool) =>
      tool === "rampart" || tool === baselineName
        ? { isStreaming: true, concurrency: 1, requests: REPORT_REQUESTS, tokenizer: largeTokenizer() }
        : undefined,
  },
  {
    title: "the paced streams, a core each",
    kind: "truth",
    stub: PACED,
    isPinned: true,
    loadOf: (tool) => (["rampart", baselineName, "perf_analyzer"].includes(tool) ? PACED_LOAD : undefined),
  },
];

/** The Python tools would take minutes for as many. */
function countFor(tool: string, many: number, few: number): number {
  return tool === "aiperf" ? few : many;
}

function largeTokenizer(): string {
  return makeLargeTokenizer(tinyTokenizer, join(benchFolder, "large-tokenizer"), LARGE_VOCABULARY);
}

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "3" },
      executable: { type: "string", default: join(root, "dist", "rampart") },
      baseline: { type: "string" },
      only: { type: "string", default: "" },
      memory: { type: "boolean", default: false },
    },
  });
  const executable = resolve(values.executable);
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds ${values.rounds}: a whole number from 1 on is needed`);
  if (!existsSync(executable)) {
    console.error(`bench: ${executable} is missing: run npm run compile first, or name one with --executable FILE`);
    return 1;
  }
  mkdirSync(benchFolder, { recursive: true });
  if (values.memory) return measureMemory(executable);
  await buildMeasure();
  const cores = chooseCores();
  if (cores === undefined)
    console.error("bench: nothing is held to cores: there are not two, or the system does not tell");
  const tools = await openTools(executable, values.baseline && resolve(values.baseline));
  const samples: Samples = new Map();
  const problems: string[] = [];
  for (let round = 0; round < rounds; round++)
    for (const one of CASES.filter(({ title }) => title.includes(values.only))) {
      const held = one.isPinned === true ? cores : undefined;
      if (one.isPinned === true && held === undefined) continue;
      const stub = await startLlmStub({ ...one.stub, ...(held === undefined ? {} : { core: held.server }) });
      const pin = held === undefined ? [] : ["taskset", "-c", String(held.client)];
      try {
        for (const tool of rotate(tools, round))
          await take(tool, one, { stub, pin }, samples, problems, `${round + 1}/${rounds}`);
      } finally {
        await stub.stop();
      }
    }
  const { text, isPassed } = renderReport(CASES, tools, rounds, samples);
  console.log(text);
  writeFileSync(join(benchFolder, values.only === "" ? "generative.md" : "generative-partial.md"), `${text}\n`);
  if (values.only === "" && values.baseline === undefined && problems.length === 0)
    writeFigures("bench:generative", text);
  for (const problem of problems) console.error(`bench: ${problem}`);
  return values.only === "" ? Number(!isPassed) : Number(problems.length > 0);
}

/** Where a tool runs, and against what. */
interface Place {
  readonly stub: LlmStub;
  /** What stands before its command. */
  readonly pin: readonly string[];
}

async function take(
  tool: Tool,
  { title, kind, loadOf }: (typeof CASES)[number],
  place: Place,
  samples: Samples,
  problems: string[],
  round: string,
): Promise<void> {
  const load = loadOf(tool.name);
  // The perf_analyzer below prints no token's time, and GenAI-Perf's own times are its.
  if (load === undefined || (kind === "report" && tool.name === "perf_analyzer")) return;
  try {
    const sample = await measure(tool, load, place, kind);
    const own = samples.get(title) ?? new Map<string, Sample[]>();
    samples.set(title, own.set(tool.name, [...(own.get(tool.name) ?? []), sample]));
    console.error(`round ${round}  ${title}  ${tool.name}: ${JSON.stringify(sample)}`);
  } catch (error) {
    problems.push(`${title}, round ${round}: ${error instanceof Error ? error.message : error}`);
  }
}

async function measure(tool: Tool, load: Load, { stub, pin }: Place, kind: Case["kind"]): Promise<Sample> {
  await stub.reset(kind === "truth");
  const command = [...pin, ...tool.command(load, stub.port)];
  // Where moments are judged, cores must not have to be woken first.
  const awake = kind === "truth" ? ["-awake"] : [];
  const { cost, stdout, stderr } = await runMeasured(tool, command, ["-limit", `${RUN_LIMIT_S}s`, ...awake]);
  const { requests, chunks, firstNs, lastNs, cpuUs } = await stub.counter();
  if (cost.timedOut || requests < load.requests)
    throw new Error(`${tool.name} sent ${requests} of ${load.requests} requests:\n${(stdout + stderr).slice(-600)}`);
  const seconds = (lastNs - firstNs) / 1e9;
  return {
    requestsPerSec: requests / seconds,
    chunksPerSec: chunks / seconds,
    cpuUsPerRequest: cost.cpuUs / requests,
    cpuUsPerChunk: chunks === 0 ? Number.NaN : cost.cpuUs / chunks,
    stubCpuRatio: cpuUs / 1e6 / seconds,
    wallMs: cost.wallMs,
    peakMb: cost.peakMb,
    ...(kind === "truth" ? compareWithServer(tool.readStreams(), await stub.log(), PACED_TOKENS) : {}),
  };
}

function rotate<T>(items: readonly T[], by: number): T[] {
  const start = by % Math.max(items.length, 1);
  return [...items.slice(start), ...items.slice(0, start)];
}
