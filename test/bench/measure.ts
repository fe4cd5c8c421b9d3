import { type ExecFileException, execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Lateness, Stub, StubCounter } from "../servers/stub.ts";
import { benchFolder, type Client, type Load, measureProgram, type Pace } from "./clients.ts";
import type { Cores } from "./pin.ts";

const RUN_LIMIT_S = 60;
const START_LIMIT_S = 20;

/** One run of one client. CPU time is that of the whole process tree, start and end included; requests are the server's count. */
export type Sample = {
  requests: number;
  cpuUsPerRequest: number;
  /** CPU time that the run takes more than a short one, per additional request. NaN if there was no short run. */
  cpuUsPerFurther: number;
  requestsPerSec: number;
  p50Us: number;
  p99Us: number;
  peakMb: number;
  connections: number;
  /** Cores that the server used meanwhile. */
  serverCores: number;
  /** How late requests came to the server at a constant rate, µs; NaN without one. */
  lateP50Us: number;
  lateP99Us: number;
};

/** What a process tree cost. */
export type TreeCost = {
  startNs: bigint;
  wallMs: number;
  cpuUs: number;
  peakMb: number;
  exit: number;
  timedOut: boolean;
};

/** Builds the small Go program that starts clients and reads what their process trees cost. */
export async function buildMeasure(): Promise<void> {
  await mkdir(benchFolder, { recursive: true });
  const cwd = fileURLToPath(new URL("./measure/", import.meta.url));
  await promisify(execFile)("go", ["build", "-buildvcs=false", "-o", measureProgram, "."], { cwd, timeout: 120_000 });
}

/**
 * Runs a client to its end. Throws with its last lines when the server saw no request of it or others than the load is made of, or when it
 * had to be stopped.
 * @param cores those that server and client are held to; default: all
 */
export async function measureRun(
  client: Client,
  load: Load,
  stub: Stub,
  pace: Pace,
  cores: Cores | undefined,
): Promise<Sample> {
  await stub.reset();
  const pin = cores === undefined ? [] : ["taskset", "-c", String(cores.client)];
  // Where the moment of a request is judged, cores must not have to be woken first.
  const awake = load.ratePerSec === undefined ? [] : ["-awake"];
  const { cost, stdout, stderr } = await runMeasured(
    client,
    [...pin, ...client.command(load, stub, pace)],
    ["-limit", `${RUN_LIMIT_S}s`, ...awake],
  );
  const counter = await stub.counter();
  const serverCpuUs = await stub.cpuUs();
  const late: Lateness | undefined = load.ratePerSec === undefined ? undefined : await stub.lateness(load.ratePerSec);
  const requests = counter.http + counter.grpc + counter.stream;
  const wrong = cost.timedOut ? "did not end" : findWrong(load, counter, requests);
  if (wrong !== undefined) throw new Error(`${client.name} ${wrong}:\n${(stdout + stderr).slice(-600)}`);
  const seconds = Number(counter.lastNs - counter.firstNs) / 1e9;
  return {
    requests,
    cpuUsPerRequest: cost.cpuUs / requests,
    cpuUsPerFurther: Number.NaN,
    requestsPerSec: (requests - 1) / seconds,
    ...client.readReport(stdout),
    peakMb: cost.peakMb,
    connections: counter.connections,
    serverCores: serverCpuUs / 1e6 / seconds,
    lateP50Us: late?.p50Us ?? Number.NaN,
    lateP99Us: late?.p99Us ?? Number.NaN,
  };
}

const SHORT: Pace = { windowMs: 500, durationS: 2 };

/** Measures a run like {@link measureRun}, and before it a short one: the difference is without start, compiled code and reports. */
export async function measureFurther(
  ...[client, load, stub, pace, cores]: Parameters<typeof measureRun>
): Promise<Sample> {
  const short = await measureRun(client, load, stub, SHORT, cores);
  const long = await measureRun(client, load, stub, pace, cores);
  return { ...long, cpuUsPerFurther: costOfFurther(short, long) };
}

/** CPU time of each request, or chunk, that the longer of two runs has more. */
export function costOfFurther(
  short: Pick<Sample, "requests" | "cpuUsPerRequest">,
  long: Pick<Sample, "requests" | "cpuUsPerRequest">,
): number {
  const cpuUs = long.requests * long.cpuUsPerRequest - short.requests * short.cpuUsPerRequest;
  return cpuUs / (long.requests - short.requests);
}

/** How late a thread that only sleeps wakes on a core, µs: what every client there has to live with. */
export type SleepLateness = { p50Us: number; p99Us: number; p999Us: number };

/** Takes three seconds. Needs buildMeasure first. */
export async function measureSleep(core: number): Promise<SleepLateness> {
  const { stdout } = await promisify(execFile)(measureProgram, ["-awake", "-sleep-on", String(core)], {
    timeout: 30_000,
  });
  const raw: Record<string, number> = JSON.parse(stdout);
  return { p50Us: Number(raw.p50_us), p99Us: Number(raw.p99_us), p999Us: Number(raw.p999_us) };
}

/** What is wrong with the requests that the server saw, in words; undefined when they are what the load asks for. */
function findWrong(load: Load, counter: StubCounter, requests: number): string | undefined {
  if (requests < 2 || counter[load.way] !== requests)
    return `sent ${requests} requests, ${counter[load.way]} of the right kind`;
  if (counter.shm !== (load.sharedMemory ? requests : 0))
    return `sent ${requests} requests, ${counter.shm} in shared memory`;
  if (counter.sequenceRequests !== (load.sequences ? requests : 0))
    return `sent ${requests} requests, ${counter.sequenceRequests} of sequences`;
  if (load.sequences && (counter.sequenceStarts === 0 || counter.sequenceEnds === 0))
    return `began ${counter.sequenceStarts} sequences and ended ${counter.sequenceEnds}`;
  return undefined;
}

/** Time from just before the process starts to its first inference request at the server, ms. The client is then killed. */
export async function measureStart(client: Client, load: Load, stub: Stub, pace: Pace): Promise<number> {
  await stub.reset();
  const flags = ["-limit", `${START_LIMIT_S}s`, "-until", `${stub.controlUrl}/first`];
  const { cost, stdout, stderr } = await runMeasured(client, client.command(load, stub, pace), flags);
  const { firstNs } = await stub.counter();
  if (firstNs === 0n) throw new Error(`${client.name} sent no request:\n${(stdout + stderr).slice(-600)}`);
  return Number(firstNs - cost.startNs) / 1e6;
}

/** Runs a command under the program that `buildMeasure` built. @param flags that program's own */
export async function runMeasured(
  client: Pick<Client, "env">,
  command: string[],
  flags: string[],
): Promise<{ cost: TreeCost; stdout: string; stderr: string }> {
  const resultFile = join(benchFolder, "measure.json");
  const timeout = (RUN_LIMIT_S + 10) * 1000;
  const options = {
    env: { ...process.env, ...client.env },
    timeout,
    killSignal: "SIGKILL" as const,
    maxBuffer: 1 << 28,
  };
  const output = await new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
    execFile(
      measureProgram,
      ["-out", resultFile, ...flags, "--", ...command],
      options,
      (error: ExecFileException | null, stdout, stderr) => {
        if (error) reject(new Error(`measure: ${error.message}`));
        else resolve({ stdout, stderr });
      },
    );
  });
  return { cost: readCost(await readFile(resultFile, "utf8")), ...output };
}

function readCost(text: string): TreeCost {
  const raw: Record<string, number | boolean> = JSON.parse(text);
  return {
    // ns since 1970 do not fit a double
    startNs: BigInt(/"start_ns":(\d+)/.exec(text)?.[1] ?? 0),
    wallMs: Number(raw.wall_ms),
    cpuUs: Number(raw.user_us) + Number(raw.system_us),
    peakMb: Number(raw.peak_rss_kb) / 1024,
    exit: Number(raw.exit),
    timedOut: raw.timed_out === true,
  };
}
