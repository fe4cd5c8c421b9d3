// npm run bench [-- --quick | --rounds N | --memory [--minutes N] | --executable FILE | --baseline FILE | --no-sources | --only TEXT]
//
// --only takes the cases whose title holds the text: sequences, stream, shared, rate, start, or for example "HTTP, 16", "in process" or
// "instructions". --memory takes two minutes of each case; with --minutes 30 it shows what memory does over hours.
//
// Measures the shipped executable (and the source on each runtime) against the real perf_analyzer, wrk, oha and ghz, all interleaved, and
// exits with 1 when a goal is missed. A whole run writes its figures into README.md here, and one of a part (--only) its goals, if it has 3 rounds. --quick is a smoke run: everything once and
// short, goals printed but not judged. --baseline adds the rows of an earlier executable.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Stub, startStub } from "../servers/stub.ts";
import {
  baselineName,
  benchFolder,
  type Client,
  executableName,
  type Load,
  originalName,
  type Pace,
  peerClients,
  rampartClients,
  root,
} from "./clients.ts";
import { renderGoals } from "./goals.ts";
import { inProcessTitle, measureInProcess } from "./in-process.ts";
import { type InstructionFigures, instructionsTitle, measureInstructions } from "./instructions/measure.ts";
import { buildMeasure, measureFurther, measureRun, measureSleep, measureStart, type Sample } from "./measure.ts";
import { goalsOf, measureLongMemory, renderLongMemory } from "./memory/long.ts";
import { measureMemory } from "./memory/short.ts";
import { type Cores, chooseCores } from "./pin.ts";
import { cases, judge, renderReport, type Samples, type Starts, startTitle } from "./table.ts";
import { summaryOfAll, writeFigures, writePart } from "./write-figures.ts";

type Options = {
  rounds: number;
  starts: number;
  pace: Pace;
  quick: boolean;
  memory: boolean;
  minutes: number | undefined;
  executable: string;
  baseline: string | undefined;
  sources: boolean;
  only: string;
};

const full = { rounds: 5, starts: 121, pace: { windowMs: 2000, durationS: 7 } };
const quick = { rounds: 1, starts: 3, pace: { windowMs: 250, durationS: 1 } };

/** Runs of memory that are shorter do not show what it does over hours. */
const LONG_MINUTES = 30;

/** perf_analyzer falls behind above about this rate. */
const MOST_OF_ORIGINAL_PER_SEC = 10_000;

/** The two servers: one as the machine schedules it, the other held to a core, where there are enough. */
type Servers = { free: Stub; pinned: Stub; cores: Cores | undefined };

process.exitCode = await main(readOptions());

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      memory: { type: "boolean", default: false },
      minutes: { type: "string" },
      executable: { type: "string", default: join(root, "dist", "rampart") },
      baseline: { type: "string" },
      "no-sources": { type: "boolean", default: false },
      only: { type: "string", default: "" },
    },
  });
  const base = values.quick ? quick : full;
  const rounds = Number(values.rounds ?? base.rounds);
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds ${values.rounds}: a whole number from 1 on is needed`);
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0))
    throw new Error(`--minutes ${values.minutes}: a number above 0 is needed`);
  if (minutes !== undefined && !values.memory) throw new Error("--minutes is of --memory: give both");
  const { memory, only } = values;
  return {
    ...base,
    rounds,
    quick: values.quick,
    memory,
    minutes,
    executable: resolve(values.executable),
    baseline: values.baseline && resolve(values.baseline),
    sources: !values["no-sources"],
    only,
  };
}

async function main(options: Options): Promise<number> {
  if (!existsSync(options.executable)) {
    console.error(
      `bench: ${options.executable} is missing: run npm run compile first, or name one with --executable FILE`,
    );
    return 1;
  }
  mkdirSync(benchFolder, { recursive: true });
  if (options.minutes !== undefined) return runLongMemory(options.executable, options.minutes);
  await buildMeasure();
  const free = await startStub();
  const cores = chooseCores();
  const pinned = await startStub(cores === undefined ? {} : { core: cores.server });
  try {
    if (options.memory) return await measureMemory(options.executable, free, options.quick ? 15 : 120);
    return await compareAll(options, { free, pinned, cores });
  } finally {
    await Promise.all([free.stop(), pinned.stop()]);
  }
}

async function compareAll(options: Options, servers: Servers): Promise<number> {
  const clients = await makeClients(options);
  const problems: string[] = [];
  if (servers.cores === undefined)
    problems.push("left out the cases with a core each: this process may use fewer than two");
  const samples = await runRounds(options, clients, servers, problems);
  const starts = startTitle.includes(options.only) ? await runStarts(options, servers.free, problems) : new Map();
  const floor = servers.cores && (await measureSleep(servers.cores.client));
  const about = { rounds: options.rounds, starts: options.starts, clients, floor };
  const inProcess = inProcessTitle.includes(options.only) ? await runInProcess(options, problems) : [];
  const counted = await runInstructions(options, clients, servers.free);
  const report = [renderReport(about, samples, starts), ...inProcess].join("\n\n");
  console.log(report);
  if (counted !== undefined) console.log(`\n${counted.report}`);
  const isWhole = !options.quick && options.only === "";
  writeFileSync(join(benchFolder, isWhole ? "latest.md" : "partial.md"), `${report}\n`);
  const isOfUse = options.baseline === undefined && problems.length === 0;
  const goals = judge(samples, starts);
  if (isWhole && isOfUse) writeFigures("bench", { report, goals });
  else if (isOfUse) writePart("bench", goals, options.rounds);
  if (counted !== undefined && isOfUse) writeFigures("instructions", counted);
  console.log(`\n${summaryOfAll()}`);
  for (const problem of problems) console.error(`bench: ${problem}`);
  if (problems.length > 0) return 1;
  return isWhole && !goals.every((goal) => goal.passed) ? 1 : 0;
}

/** Counts the instructions of the executable and of its peers. Undefined: that is not asked for. */
async function runInstructions(
  { quick: isQuick, only }: Options,
  clients: readonly Client[],
  stub: Stub,
): Promise<InstructionFigures | undefined> {
  if (isQuick || !instructionsTitle.includes(only)) return undefined;
  const others = clients.filter(({ name }) => !name.startsWith("source"));
  return measureInstructions((load) => others.filter((client) => takesPart(client, load)), stub);
}

async function runLongMemory(executable: string, minutes: number): Promise<number> {
  const cases = await measureLongMemory(executable, minutes);
  const goals = cases.flatMap(goalsOf);
  console.log(renderGoals(goals));
  if (minutes >= LONG_MINUTES) writeFigures("memory", { report: renderLongMemory(cases, minutes), goals });
  return goals.every(({ passed }) => passed) ? 0 : 1;
}

async function runInProcess({ executable, quick: isQuick }: Options, problems: string[]): Promise<string[]> {
  try {
    const { report, missed } = await measureInProcess(executable, isQuick ? 2000 : 20_000);
    if (!isQuick) problems.push(...missed);
    return [report];
  } catch (error) {
    problems.push(`${inProcessTitle}: ${error instanceof Error ? error.message : error}`);
    return [];
  }
}

/** Each round runs every client once per case; the order rotates, so that nobody always follows the same neighbour. */
async function runRounds(
  { rounds, pace, only }: Options,
  clients: Client[],
  servers: Servers,
  problems: string[],
): Promise<Samples> {
  const chosen = cases.filter(
    ({ title, load }) => title.includes(only) && (!load.isPinned || servers.cores !== undefined),
  );
  const samples: Samples = new Map(chosen.map(({ title }) => [title, new Map()]));
  for (let round = 0; round < rounds; round++) {
    for (const { title, load, hasShort = false } of chosen) {
      const taking = clients.filter((client) => takesPart(client, load));
      for (const client of rotate(taking, round)) {
        try {
          const stub = load.isPinned ? servers.pinned : servers.free;
          const cores = load.isPinned ? servers.cores : undefined;
          const sample = await (hasShort ? measureFurther : measureRun)(client, load, stub, pace, cores);
          const own = samples.get(title);
          own?.set(client.name, [...(own.get(client.name) ?? []), sample]);
          console.error(`round ${round + 1}/${rounds}  ${title}  ${client.name}: ${summarise(sample)}`);
        } catch (error) {
          const problem = `round ${round + 1}, ${title}: ${error instanceof Error ? error.message : error}`;
          // A run that a peer failed is missing from its median, and leaves the figures of use.
          if (client.name === executableName) problems.push(problem);
          else console.error(`bench: ${problem}`);
        }
      }
    }
  }
  return samples;
}

function summarise({ cpuUsPerRequest, p50Us, lateP99Us }: Sample): string {
  const late = Number.isNaN(lateP99Us) ? "" : `, p99 late ${lateP99Us.toFixed(0)} µs`;
  return `${cpuUsPerRequest.toFixed(2)} µs CPU/request, p50 ${p50Us} µs${late}`;
}

/** At concurrency 1 only the latency of the executable and of the other tools is of interest, with several threads only the executable. */
function takesPart(client: Client, load: Load): boolean {
  if (client.isPlain && (load.sequences || load.sharedMemory || load.serviceKind || load.ratePerSec)) return false;
  // Its run does not end in a minute there.
  if (client.name === originalName && load.way === "http" && load.concurrency > 100) return false;
  if (client.name === originalName && (load.ratePerSec ?? 0) > MOST_OF_ORIGINAL_PER_SEC) return false;
  if (load.workers && ![executableName, baselineName].includes(client.name)) return false;
  return client.ways.includes(load.way) && (load.concurrency > 1 || !client.name.startsWith("source"));
}

/** Copies the programs that are compared, and makes a client of each. */
async function makeClients({ executable, baseline, sources }: Options): Promise<Client[]> {
  return [...rampartClients(executable, baseline, sources), ...(await peerClients())];
}

async function runStarts(options: Options, stub: Stub, problems: string[]): Promise<Starts> {
  const { starts: count, pace } = options;
  // Copied once more: the system may have dropped the pages of those of the rounds, some minutes ago, and read them again in other pieces.
  const clients = await makeClients(options);
  const ways = ["http", "grpc"] as const;
  const times: Starts = new Map(ways.map((way) => [way, new Map()]));
  // The two that are compared take turns by themselves: the sources' runtimes would push both out of the processor's caches.
  const compared = clients.filter(({ name }) => [executableName, baselineName, originalName].includes(name));
  const sources = clients.filter(({ name }) => name.startsWith("source"));
  const turnsOf = (taking: Client[]) =>
    shuffle(ways.flatMap((way) => taking.flatMap((client) => Array.from({ length: count }, () => ({ way, client })))));
  const turns = [...turnsOf(compared), ...turnsOf(sources)];
  console.error(`${turns.length} starts …`);
  for (const { way, client } of turns) {
    try {
      const elapsedMs = await measureStart(client, { way, concurrency: 16 }, stub, pace);
      const own = times.get(way);
      own?.set(client.name, [...(own.get(client.name) ?? []), elapsedMs]);
    } catch (error) {
      problems.push(`start, ${way}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return times;
}

function rotate<T>(items: T[], by: number): T[] {
  const start = by % Math.max(items.length, 1);
  return [...items.slice(start), ...items.slice(0, start)];
}

function shuffle<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
