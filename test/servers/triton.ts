import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePorts } from "./free-ports.ts";
import { cacheFolder } from "./install-once.ts";
import { endGroup, hasEnded, signalGroup } from "./process-group.ts";
import { installTriton, readInstallation } from "./triton-install.ts";

export { installTriton } from "./triton-install.ts";

/** The models that {@link startTriton} serves by default. */
export const modelsFolder = fileURLToPath(new URL("./triton-models", import.meta.url));

/** Options of {@link startTriton}. */
export interface TritonOptions {
  /** The model repository; default: `test/servers/triton-models`. */
  models?: string;
  /** The only ones of them to serve: each that is not loaded saves a second of the machine's time. Default: all. */
  only?: readonly string[];
  /** More flags of tritonserver. */
  flags?: string[];
  /** How long to wait for every model; default 150 s. */
  readyTimeoutMs?: number;
}

/** A running server on loopback. */
export interface Triton {
  httpPort: number;
  grpcPort: number;
  metricsPort: number;
  /** Process id of tritonserver. */
  pid: number;
  /** Where the server's stdout and stderr go. */
  logFile: string;
  /** Ends the server, at the latest after about 10 s; calling it again does nothing. */
  stop(): Promise<void>;
}

const readyTimeoutMs = 150_000;
const stopTimeoutMs = 8_000;
const attempts = 3;

/**
 * Installs Triton if needed, starts it on free ports and waits until it and every model are ready.
 * @throws with the end of the server's log when it ends early or is not ready in time
 */
export async function startTriton(options: TritonOptions = {}): Promise<Triton> {
  const folder = await installTriton();
  for (let attempt = 1; ; attempt++) {
    const server = await launch(folder, options);
    try {
      await waitUntilReady(server, options);
      return server;
    } catch (error) {
      const ended = hasEnded(server.process);
      await server.stop();
      // Another process may have taken one of the ports in the meantime, or Triton's Python backend crashed, as it does on a busy machine
      // while the processes of models start: only then is another try of use.
      const isBadLuck = /in use|interprocess::lock_exception/.test(readLogTail(server.logFile));
      if (!ended || attempt === attempts || !isBadLuck) throw error;
    }
  }
}

/** How often a model answered and failed since the server started, over all its versions. The last request may not be counted yet. */
export async function readCounts(httpPort: number, model: string): Promise<{ success: number; fail: number }> {
  const response = await fetch(`http://127.0.0.1:${httpPort}/v2/models/${encodeURIComponent(model)}/stats`);
  if (!response.ok) throw new Error(`statistics of ${model}: ${response.status} ${await response.text()}`);
  const body = (await response.json()) as ModelStats;
  const counts = { success: 0, fail: 0 };
  for (const { inference_stats: stats } of body.model_stats) {
    counts.success += Number(stats.success.count ?? 0);
    counts.fail += Number(stats.fail.count ?? 0);
  }
  return counts;
}

interface ModelStats {
  model_stats: { inference_stats: { success: { count?: number }; fail: { count?: number } } }[];
}

interface LaunchedTriton extends Triton {
  process: ChildProcess;
}

async function launch(folder: string, options: TritonOptions): Promise<LaunchedTriton> {
  const [httpPort, grpcPort, metricsPort] = await findFreePorts(3);
  const logFolder = join(cacheFolder, "logs");
  mkdirSync(logFolder, { recursive: true });
  const logFile = join(logFolder, `triton-${httpPort}.log`);
  const log = openSync(logFile, "w");
  const { executable, backends, caches, env } = readInstallation(folder);
  const flags = [
    `--model-repository=${options.models ?? modelsFolder}`,
    `--backend-directory=${backends}`,
    `--cache-directory=${caches}`,
    "--cache-config=local,size=10485760",
    ...["http", "grpc", "metrics"].map((name) => `--${name}-address=127.0.0.1`),
    `--http-port=${httpPort}`,
    `--grpc-port=${grpcPort}`,
    `--metrics-port=${metricsPort}`,
    "--allow-gpu-metrics=false",
    "--exit-timeout-secs=3",
    "--backend-config=python,shm-default-byte-size=1048576",
    `--backend-config=python,shm-region-prefix-name=triton_${httpPort}_`,
    ...(options.only === undefined ? [] : ["--model-control-mode=explicit"]),
    ...(options.only ?? []).map((model) => `--load-model=${model}`),
    ...(options.flags ?? []),
  ];
  // A process group of its own: the models' Python processes must end with the server even when it is killed.
  const child = spawn(executable, flags, {
    stdio: ["ignore", log, log],
    detached: true,
    env: { ...process.env, ...env },
  });
  closeSync(log);
  const onExit = (): void => signalGroup(child, "SIGKILL");
  process.once("exit", onExit);
  const stop = async (): Promise<void> => {
    await endGroup(child, stopTimeoutMs, (process, signal) => process.kill(signal));
    process.off("exit", onExit);
    removeSharedMemory(httpPort);
  };
  return { httpPort, grpcPort, metricsPort, pid: child.pid ?? 0, logFile, stop, process: child };
}

async function waitUntilReady(server: LaunchedTriton, options: TritonOptions): Promise<void> {
  let spawnError: Error | undefined;
  server.process.once("error", (error) => {
    spawnError = error;
  });
  const deadline = Date.now() + (options.readyTimeoutMs ?? readyTimeoutMs);
  while (!(await isReady(server, options.only))) {
    const reason =
      spawnError?.message ??
      (hasEnded(server.process) ? "it ended" : Date.now() > deadline ? "it is not ready in time" : "");
    if (reason !== "") throw new Error(`Triton did not start: ${reason}\n${readLogTail(server.logFile)}`);
    await new Promise((resolve) => setTimeout(resolve, 100)); // The server does not signal when it is ready.
  }
}

/** The port of metrics is opened last: a server that finds it taken ends, although its models are ready. */
async function isReady({ httpPort, metricsPort }: Triton, only: readonly string[] | undefined): Promise<boolean> {
  const base = `http://127.0.0.1:${httpPort}/v2`;
  try {
    const health = await fetch(`${base}/health/ready`, { signal: AbortSignal.timeout(2000) });
    await health.arrayBuffer();
    if (!health.ok) return false;
    const index = await fetch(`${base}/repository/index`, { method: "POST", signal: AbortSignal.timeout(2000) });
    const models = (await index.json()) as { name: string; state?: string }[];
    if (!models.every(({ name, state }) => state === "READY" || only?.includes(name) === false)) return false;
    const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { signal: AbortSignal.timeout(2000) });
    await metrics.arrayBuffer();
    return metrics.ok;
  } catch {
    return false;
  }
}

/** A server that was killed leaves its shared memory behind. */
function removeSharedMemory(httpPort: number): void {
  for (const name of readdirSync("/dev/shm")) {
    if (name.startsWith(`triton_${httpPort}_`)) rmSync(join("/dev/shm", name), { force: true });
  }
}

function readLogTail(logFile: string): string {
  return readFileSync(logFile, "utf8").split("\n").slice(-25).join("\n");
}
