import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeFolder } from "../make-folder.ts";
import { ensureOpenMpi } from "../servers/open-mpi.ts";
import { compare, type Outcome } from "./compare.ts";
import { judgeResult, type Mismatches } from "./mismatches.ts";
import { readTranscript, type Transcript } from "./transcript.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const inputsFolder = fileURLToPath(new URL("./inputs", import.meta.url));

/** Runs from source with Bun, unless the environment names an executable. */
export const defaultCommand = process.env.RAMPART_COMMAND ?? "node_modules/.bin/bun src/main.ts perf_analyzer";

/** Where the server of the transcripts is. */
export interface Ports {
  http: number;
  grpc: number;
  /** Triton's metrics. */
  metrics: number;
  /** Metrics of two GPUs: `startMetricsStub`. */
  gpus: number;
  /** A port on which nothing listens. */
  dead: number;
}

/** How one transcript came out; it matches when there are no differences. */
export interface Result {
  name: string;
  differences: string[];
}

const runTimeoutMs = 90_000;
const parallelRuns = 4;
const parallelModels = 2;
const mostRetries = 8;
/** A stability percentage that any three windows keep: whether windows agree says something of this machine. It is in no output. */
const ALWAYS_STABLE_PCT = "1000000";

/**
 * Runs transcripts against Triton and compares. What runs no timed load runs beside others; timed ones of the same model run one after
 * the other. A result that is not as `known` lists it is tried again at the end, alone, eight times at most: a busy machine can make a run
 * unstable.
 * @param onResult called for each as it is done
 */
export async function runGolden(
  names: readonly string[],
  known: Mismatches,
  ports: Ports,
  command = defaultCommand,
  onResult: (result: Result) => void = () => {},
): Promise<Result[]> {
  const words = resolveCommand(command);
  const transcripts = names.map(readTranscript);
  const results: Result[] = [];
  const again: Transcript[] = [];
  const finish = (result: Result): void => {
    results.push(result);
    onResult(result);
  };
  const runOne = async (transcript: Transcript): Promise<Result> => {
    return { name: transcript.name, differences: compare(transcript, await execute(transcript, ports, words)) };
  };
  const tryOnce = async (transcript: Transcript): Promise<void> => {
    const result = await runOne(transcript);
    if (judgeResult(result, known).length === 0) finish(result);
    else again.push(transcript);
  };
  await forEach(
    transcripts.filter((transcript) => !transcript.isTimed),
    parallelRuns,
    tryOnce,
  );
  await forEach(groupByModel(transcripts.filter((transcript) => transcript.isTimed)), parallelModels, (group) =>
    forEach(group, 1, tryOnce),
  );
  for (const transcript of again) {
    let result = await runOne(transcript);
    for (let retry = 1; retry < mostRetries && judgeResult(result, known).length > 0; retry++)
      result = await runOne(transcript);
    finish(result);
  }
  return results;
}

/** Transcripts of one model share its queue; the largest group comes first. */
function groupByModel(transcripts: readonly Transcript[]): Transcript[][] {
  const groups = Map.groupBy(transcripts, ({ args }) => args[args.indexOf("-m") + 1] ?? "");
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

/** Words that name a file below the repository's root become absolute, since every run has a working directory of its own. */
function resolveCommand(command: string): string[] {
  return command
    .split(" ")
    .map((word) => (word.includes("/") && existsSync(join(root, word)) ? join(root, word) : word));
}

async function forEach<T>(items: readonly T[], atOnce: number, act: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const lanes = Array.from({ length: atOnce }, async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await act(item);
  });
  await Promise.all(lanes);
}

async function execute(transcript: Transcript, ports: Ports, words: readonly string[]): Promise<Outcome> {
  const folder = makeFolder();
  symlinkSync(inputsFolder, join(folder, "data"));
  const { rankCount } = transcript;
  const job = rankCount === undefined ? [] : [...ensureOpenMpi(), "-n", String(rankCount)];
  const [executable = "", ...first] = [...job, ...words];
  const { exitCode, stdout, stderr } = await runProcess(executable, [...first, ...fillIn(transcript, ports)], folder);
  const csvPath = join(folder, "out.csv");
  const profilePath = join(folder, "prof.json");
  return {
    exitCode,
    stdout: generalise(stdout, transcript, ports),
    stderr: generalise(stderr, transcript, ports),
    csv: existsSync(csvPath) ? readFileSync(csvPath, "utf8") : undefined,
    composingCsv: readComposingCsv(folder),
    // The ranks of a job write to the same path, one over the other.
    profile: rankCount === undefined && existsSync(profilePath) ? readFileSync(profilePath) : undefined,
  };
}

function readComposingCsv(folder: string): Record<string, string> {
  const files = readdirSync(folder).filter((file) => file.endsWith(".out.csv"));
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

/** The command line with this run's ports, shorter windows, and limits that a busy machine keeps. */
function fillIn(transcript: Transcript, ports: Ports): string[] {
  return transcript.args.map((arg, i) => {
    const flag = transcript.args[i - 1];
    if (transcript.shortWindowMs !== undefined && flag === "-p") return String(transcript.shortWindowMs);
    if (transcript.latencyLimitMs !== undefined && flag === "-l") return String(transcript.latencyLimitMs);
    if (transcript.isTimed && transcript.exitCode === 0 && flag === "-s") return ALWAYS_STABLE_PCT;
    return Object.entries(ports).reduce((text, [name, port]) => text.replaceAll(`{${name}}`, String(port)), arg);
  });
}

/** The opposite of {@link fillIn} for what was printed. */
function generalise(text: string, transcript: Transcript, ports: Ports): string {
  const { args, shortWindowMs, latencyLimitMs } = transcript;
  const recordedOf = (flag: string): string | undefined => args[args.indexOf(flag) + 1];
  const recorded = text
    .replaceAll(`Measurement window: ${shortWindowMs} msec`, `Measurement window: ${recordedOf("-p")} msec`)
    .replace(`Latency limit: ${latencyLimitMs} msec`, `Latency limit: ${recordedOf("-l")} msec`)
    .replaceAll(`over the set limit of ${latencyLimitMs} msec`, `over the set limit of ${recordedOf("-l")} msec`);
  return Object.entries(ports).reduce((result, [name, port]) => result.replaceAll(`:${port}`, `:{${name}}`), recorded);
}

interface Exit {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

function runProcess(executable: string, args: readonly string[], cwd: string): Promise<Exit> {
  return new Promise((resolve, reject) => {
    const child = spawn(executable, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: runTimeoutMs,
      killSignal: "SIGKILL",
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", reject);
    child.on("close", (exitCode) => {
      resolve({ exitCode, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}
