// node test/bench/in-process.ts [requests]
//
// Compares the CPU per request of Triton in process with that of the same Triton over gRPC, on the executable (`npm run compile` first).
// perf_analyzer's own mode does not end here, so there is nothing else to compare with. Counts are checked against the server's.
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { modelsFolder, startTriton } from "../servers/triton.ts";
import { installTriton, readInstallation } from "../servers/triton-install.ts";

const run = promisify(execFile);
const executable = join(import.meta.dirname, "..", "..", "dist", "rampart");
const requests = Number(process.argv[2] ?? 20_000);
const model = "simple";

/** CPU seconds of a command and of the processes that it waited for, and what it printed. */
async function measureCpu(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ cpuS: number; out: string }> {
  const script = 'TIMEFORMAT="%U %S"; time "$@"';
  const { stdout, stderr } = await run("bash", ["-c", script, "bash", executable, "perf_analyzer", ...args], {
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

function checkCounts(out: string): void {
  for (const line of [`Request count: ${requests}`, `Successful request count: ${requests}`])
    if (!out.includes(line)) throw new Error(`no line '${line}' in:\n${out}`);
}

function report(name: string, cpuS: number): void {
  console.log(`| ${name} | ${((cpuS / (requests - few)) * 1e6).toFixed(1)} |`);
}

/** Starting costs the same for any number of requests: it is measured alone, and taken off. */
const few = 200;
const installed = readInstallation(await installTriton());
const places = ["--triton-server-directory", join(installed.backends, ".."), "--model-repository", modelsFolder];
const inProcess = ["--service-kind", "triton_c_api", ...places];

function loadOf(count: number): string[] {
  return ["-m", model, "--request-count", String(count), "--concurrency-range", "16"];
}

console.log("| Triton and its client, without the model's process | CPU per request (µs) |\n| --- | --- |");
const started = await measureCpu([...loadOf(few), ...inProcess], installed.env);
const whole = await measureCpu([...loadOf(requests), ...inProcess], installed.env);
checkCounts(whole.out);
report("in process: the run and the process with the library", whole.cpuS - started.cpuS);
const triton = await startTriton({ only: [model] });
try {
  const grpc = ["-i", "grpc", "-u", `127.0.0.1:${triton.grpcPort}`];
  const beginning = await measureCpu([...loadOf(few), ...grpc], {});
  const before = cpuOf(triton.pid);
  const client = await measureCpu([...loadOf(requests), ...grpc], {});
  checkCounts(client.out);
  report("gRPC: the run", client.cpuS - beginning.cpuS);
  report("gRPC: the run and tritonserver", client.cpuS - beginning.cpuS + cpuOf(triton.pid) - before);
} finally {
  await triton.stop();
}
