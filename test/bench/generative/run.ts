// npm run bench:generative [-- --rounds N --executable FILE --baseline FILE --only TEXT --memory]
// npm run bench:streams [-- … --workers N]
//
// Measures `rampart genai-perf` against AIPerf, GenAI-Perf and the perf_analyzer below it, interleaved, on a Go stub of a language model that
// counts requests and notes when tokens leave. Exits with 1 when a goal is missed. --memory runs 100,000 streams and looks at memory instead. --baseline adds the
// rows of an earlier executable. A whole run writes its figures into the guide, one of a part (--only) its goals, if it has 3 rounds. `bench:streams` is the same program with --many: more streams at once. --workers adds the rows of the executable with
// N threads that send, which needs a core for each beside that of the server.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type LlmStub, startLlmStub } from "../../servers/llm-stub.ts";
import { benchFolder, copyName, root } from "../clients.ts";
import { buildMeasure, costOfFurther, runMeasured } from "../measure.ts";
import { type Cores, chooseCores } from "../pin.ts";
import { writeFigures, writePart } from "../write-figures.ts";
import { CASES, MANY_CASES, type MeasuredCase } from "./cases.ts";
import { type Load, openPerfAnalyzer, openTools, type Tool, threadsTool } from "./clients.ts";
import { measureMemory } from "./memory.ts";
import { type Case, renderReport, type Sample, type Samples } from "./table.ts";
import { compareWithServer } from "./truth.ts";

const RUN_LIMIT_S = 110;
process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "3" },
      executable: { type: "string", default: join(root, "dist", "rampart") },
      baseline: { type: "string" },
      only: { type: "string", default: "" },
      memory: { type: "boolean", default: false },
      many: { type: "boolean", default: false },
      workers: { type: "string" },
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
  const workers = readWorkers(values.workers, cores);
  const peers = values.many ? [openPerfAnalyzer] : undefined;
  const withThreads = workers === undefined ? [] : [threadsTool(executable, workers)];
  const measured = await openTools(executable, values.baseline && resolve(values.baseline), peers);
  const tools = [...measured, ...withThreads];
  const { cases, bench } = values.many
    ? { cases: MANY_CASES, bench: "bench:streams" as const }
    : { cases: CASES, bench: "bench:generative" as const };
  const samples: Samples = new Map();
  const problems: string[] = [];
  for (let round = 0; round < rounds; round++)
    for (const one of cases.filter(({ title }) => title.includes(values.only))) {
      const held = one.isPinned === true ? cores : undefined;
      if (one.isPinned === true && held === undefined) continue;
      const stub = await startLlmStub({ ...one.stub, ...(held === undefined ? {} : { core: held.server }) });
      const pinOf = (tool: Tool): readonly string[] =>
        held === undefined
          ? []
          : ["taskset", "-c", (withThreads.includes(tool) ? held.others : [held.client]).join(",")];
      try {
        for (const tool of rotate(tools, round))
          await take(tool, one, { stub, pin: pinOf(tool) }, samples, problems, `${round + 1}/${rounds}`);
      } finally {
        await stub.stop();
      }
    }
  const { text, goals } = renderReport(cases, tools, rounds, samples);
  console.log(text);
  writeFileSync(
    join(benchFolder, `${bench.slice("bench:".length)}${values.only === "" ? "" : "-partial"}.md`),
    `${text}\n`,
  );
  // A run that a peer failed is missing from its median; one of ours leaves the figures as they are.
  const isWhole = [...samples.values()].every((tools) => tools.get("rampart")?.length === rounds);
  if (values.baseline === undefined && workers === undefined && isWhole) {
    if (values.only === "") writeFigures(bench, { report: text, goals });
    else if (problems.length === 0) writePart(bench, goals, rounds);
  }
  for (const problem of problems) console.error(`bench: ${problem}`);
  return values.only === "" ? Number(!goals.every(({ passed }) => passed)) : Number(problems.length > 0);
}

/** Undefined: one thread only. */
function readWorkers(given: string | undefined, cores: Cores | undefined): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  const most = cores?.others.length ?? 0;
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  throw new Error(`--workers ${given}: a whole number from 1 to ${most} is needed, of the cores beside the server's`);
}

/** Where a tool runs, and against what. */
interface Place {
  readonly stub: LlmStub;
  /** What stands before its command. */
  readonly pin: readonly string[];
}

async function take(
  tool: Tool,
  { title, kind, stub: { tokens = 0 }, loadOf, hasCopy, hasShort }: MeasuredCase,
  place: Place,
  samples: Samples,
  problems: string[],
  round: string,
): Promise<void> {
  const load = loadOf(tool.name);
  // The perf_analyzer below prints no token's time, and GenAI-Perf's own times are its.
  if (load === undefined || (kind === "report" && tool.name.endsWith("perf_analyzer"))) return;
  if (tool.name === copyName && hasCopy !== true) return;
  try {
    const short = hasShort === true ? { ...load, requests: load.requests / 5 } : undefined;
    const before = short && (await measure(tool, short, place, { kind, tokens }));
    const long = await measure(tool, load, place, { kind, tokens });
    const sample =
      before === undefined ? long : { ...long, cpuUsPerFurther: costOfFurther(perChunk(before), perChunk(long)) };
    const own = samples.get(title) ?? new Map<string, Sample[]>();
    samples.set(title, own.set(tool.name, [...(own.get(tool.name) ?? []), sample]));
    console.error(`round ${round}  ${title}  ${tool.name}: ${JSON.stringify(sample)}`);
  } catch (error) {
    problems.push(`${title}, round ${round}: ${error instanceof Error ? error.message : error}`);
  }
}

/** The numbers of a sample per chunk instead of per request. */
function perChunk({ chunks, cpuUsPerChunk }: Sample): Parameters<typeof costOfFurther>[0] {
  return { requests: chunks, cpuUsPerRequest: cpuUsPerChunk };
}

async function measure(
  tool: Tool,
  load: Load,
  { stub, pin }: Place,
  { kind, tokens }: Pick<Case, "kind"> & { readonly tokens: number },
): Promise<Sample> {
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
    chunks,
    chunksPerSec: chunks / seconds,
    cpuUsPerRequest: cost.cpuUs / requests,
    cpuUsPerChunk: chunks === 0 ? Number.NaN : cost.cpuUs / chunks,
    stubCpuRatio: cpuUs / 1e6 / seconds,
    wallMs: cost.wallMs,
    peakMb: cost.peakMb,
    ...(kind === "truth"
      ? compareWithServer(tool.readStreams(), await stub.log(), { tokens, users: load.concurrency })
      : {}),
  };
}

function rotate<T>(items: readonly T[], by: number): T[] {
  const start = by % Math.max(items.length, 1);
  return [...items.slice(start), ...items.slice(0, start)];
}
