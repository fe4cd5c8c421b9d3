/**
 * Compares the CPU per request and the throughput of Triton in process with those of the same Triton over gRPC. perf_analyzer's own mode does not end here, so
 * there is nothing else to compare with. Counts are checked against the server's.
 */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { modelsFolder, startTriton } from "../servers/triton.ts";
import { installTriton, readInstallation } from "../servers/triton-install.ts";
import { renderTable } from "./goals.ts";
import { median } from "./median.ts";

const run = promisify(execFile);
const model = "simple";

/** CPU seconds of a command and of the processes that it waited for, and what it printed. */
async function measureCpu(
  executable: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ cpuS: number; out: string }> {
  const script = 'TIMEFORMAT="%U %S"; time "$@"';
  const { stdout, stderr } = await run("bash", ["--norc", "-c", script, "bash", executable, "perf_analyzer", ...args], {
    env: { ...process.env, ...env },
    timeout: 300_000,
  });
  const [user = 0, system = 0] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number);
  return { cpuS: user + system, out: stdout };
}

/** CPU seconds of a process so far. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const ticksPerS = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  return (Number(fields[11]) + Number(fields[12])) / ticksPerS;
}

function checkCounts(out: string, requests: number): void {
  for (const line of [`Request count: ${requests}`, `Successful request count: ${requests}`])
    if (!out.includes(line)) throw new Error(`no line '${line}' in:\n${out}`);
}

/** Starting costs the same for any number of requests: it is measured alone, and taken off. */
const FEW = 200;

/** Heads the table; `--only` compares with it as with a case's title. */
export const inProcessTitle = "in process, and over gRPC, 16 concurrent";

/** Levels of concurrency whose throughput is compared, and how often, alternately. */
const LEVELS = [1, 4, 16];
const ROUNDS = 5;

/** A way to Triton: the flags and the environment of a run. */
interface Way {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What was measured, as Markdown, and the goals that were missed: in process is at least as fast as over gRPC at each level. */
export interface InProcessFigures {
  readonly report: string;
  readonly missed: readonly string[];
}

/** Measures the throughput over each way. The goal is that the first way is the fastest. @throws when the counts differ */
async function measureThroughput(
  executable: string,
  requests: number,
  ways: readonly Way[],
): Promise<InProcessFigures> {
  const measured = new Map(ways.map(({ name }) => [name, LEVELS.map((): number[] => [])]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, level] of LEVELS.entries())
      for (const { name, args, env } of ways) {
        const load = ["-m", model, "--request-count", String(requests), "--concurrency-range", String(level)];
        const { out } = await measureCpu(executable, [...load, ...args], env);
        checkCounts(out, requests);
        measured.get(name)?.[index]?.push(Number(/Throughput: ([\d.]+) infer/.exec(out)?.[1]));
      }
  const medians = ways.map(({ name }) => ({ name, perSec: (measured.get(name) ?? []).map(median) }));
  const [first, ...others] = medians;
  const missed = others.flatMap(({ name, perSec }) =>
    LEVELS.filter((_, index) => !((first?.perSec[index] ?? 0) >= (perSec[index] ?? 0))).map(
      (level) => `${first?.name} is slower than ${name} at ${level} concurrent`,
    ),
  );
  const report = renderTable(
    ["Triton in process, and over gRPC: requests/s", ...LEVELS.map((level) => `${level} concurrent`)],
    medians.map(({ name, perSec }) => [name, ...perSec.map((rate) => rate.toFixed(0))]),
  );
  return { report, missed };
}

/** Measures CPU and throughput. @throws when the counts differ */
export async function measureInProcess(executable: string, requests: number): Promise<InProcessFigures> {
  const installed = readInstallation(await installTriton());
  const places = ["--triton-server-directory", join(installed.backends, ".."), "--model-repository", modelsFolder];
  const inProcess = ["--service-kind", "triton_c_api", ...places];
  /** CPU seconds of a load without its start. */
  const measure = async (args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> => {
    const loadOf = (count: number): string[] => {
      return ["-m", model, "--request-count", String(count), "--concurrency-range", "16", ...args];
    };
    const started = await measureCpu(executable, loadOf(FEW), env);
    const whole = await measureCpu(executable, loadOf(requests), env);
    checkCounts(whole.out, requests);
    return whole.cpuS - started.cpuS;
  };
  const library = await measure(inProcess, installed.env);
  const triton = await startTriton({ only: [model] });
  try {
    const before = cpuOf(triton.pid);
    const overGrpc = ["-i", "grpc", "-u", `127.0.0.1:${triton.grpcPort}`];
    const client = await measure(overGrpc, {});
    const server = ((cpuOf(triton.pid) - before) * (requests - FEW)) / (requests + FEW);
    const row = (name: string, cpuS: number): string[] => [name, ((cpuS / (requests - FEW)) * 1e6).toFixed(1)];
    const cpu = renderTable(
      [`Triton ${inProcessTitle}, without the model's process`, "CPU µs/request"],
      [
        row("in process: the run and the process with the library", library),
        row("gRPC: the run", client),
        row("gRPC: the run and tritonserver", client + server),
      ],
    );
    const throughput = await measureThroughput(executable, Math.ceil(requests / ROUNDS), [
      { name: "in process", args: inProcess, env: installed.env },
      { name: "gRPC", args: overGrpc, env: {} },
    ]);
    return { ...throughput, report: `${cpu}\n\n${throughput.report}` };
  } finally {
    await triton.stop();
  }
}
