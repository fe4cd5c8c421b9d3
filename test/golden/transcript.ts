import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("./transcripts/", import.meta.url));

/** One run of the real perf_analyzer, as `transcripts/<name>/` holds it. */
export interface Transcript {
  name: string;
  /** The command line; `{http}` and `{grpc}` stand for the server's ports, `{dead}` for one on which nothing listens. */
  args: string[];
  /** The server that it was run against: `triton`, or a name of `test/matrix/servers.ts`. */
  server: string;
  /** How many ranks mpirun starts; undefined: the command runs without it. */
  rankCount: number | undefined;
  exitCode: number;
  /** For an error: the flags, values and messages that its text must name. */
  names: string[];
  /** Whether load runs in time windows, so that no other transcript should run meanwhile. */
  isTimed: boolean;
  /** What to put for `-p` to be done sooner; undefined to leave it. */
  shortWindowMs: number | undefined;
  /** What to put for `-l`, farther from the latencies of the levels than the recorded value; undefined to leave it. */
  latencyLimitMs: number | undefined;
  stdout: string[];
  stderr: string[];
  /** Undefined where the run wrote no such file. */
  csv: string[] | undefined;
  profile: string[] | undefined;
  /** The CSV files of models that the measured one calls, by file name. */
  composingCsv: Readonly<Record<string, string[]>>;
}

interface CommandFile {
  args: string;
  server?: string;
  rankCount?: number;
  exitCode: number;
  names?: string[];
  isTimed?: boolean;
  shortWindowMs?: number;
  latencyLimitMs?: number;
}

/** The names of the covered transcripts. */
export function readCovered(): string[] {
  return JSON.parse(readFileSync(new URL("./covered.json", import.meta.url), "utf8")) as string[];
}

/** The names of the covered transcripts of one server. */
export function readCoveredOf(server: string): string[] {
  return readCovered().filter((name) => readTranscript(name).server === server);
}

/** Reads `transcripts/<name>/`. */
export function readTranscript(name: string): Transcript {
  const file = JSON.parse(readFileSync(join(folder, name, "command.json"), "utf8")) as CommandFile;
  return {
    name,
    args: file.args === "" ? [] : file.args.split(" "),
    server: file.server ?? "triton",
    rankCount: file.rankCount,
    exitCode: file.exitCode,
    names: file.names ?? [],
    isTimed: file.isTimed ?? false,
    shortWindowMs: file.shortWindowMs,
    latencyLimitMs: file.latencyLimitMs,
    stdout: readLines(name, "stdout.txt") ?? [],
    stderr: readLines(name, "stderr.txt") ?? [],
    csv: readLines(name, "csv.txt"),
    profile: readLines(name, "profile.txt"),
    composingCsv: readComposingCsv(name),
  };
}

/** `slow_v1.out.csv` is kept as `slow_v1.out.csv.txt`. */
function readComposingCsv(name: string): Record<string, string[]> {
  const files = readdirSync(join(folder, name)).filter((file) => file.endsWith(".out.csv.txt"));
  return Object.fromEntries(files.map((file) => [file.slice(0, -".txt".length), readLines(name, file) ?? []]));
}

function readLines(name: string, file: string): string[] | undefined {
  const path = join(folder, name, file);
  return existsSync(path) ? readFileSync(path, "utf8").replace(/\n$/, "").split("\n") : undefined;
}
