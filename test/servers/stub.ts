import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { buildGo } from "./build-go.ts";
import { askOnHost, type NetworkHost } from "./network.ts";
import { readPorts } from "./read-ports.ts";

const READY_TIMEOUT_MS = 120_000;

export type StubOptions = {
  /** PEM files; with `certFile` and `keyFile` both ports speak TLS, with `clientCaFile` they ask for a client certificate. */
  tls?: { certFile: string; keyFile: string; clientCaFile?: string };
  /** 0, the default, takes a free port. */
  httpPort?: number;
  grpcPort?: number;
  /** The core it may run on, from 0 on; default: all. Needs taskset. */
  core?: number;
  /** The host that it runs on, and at whose address it listens. Default: this one, on loopback. */
  on?: NetworkHost;
};

/**
 * Inference requests per way in and connections accepted since the last reset; `firstNs` and `lastNs` are wall-clock ns since 1970 of the
 * first and latest. `shm` of the requests had all their tensors in shared memory, `sequenceRequests` belonged to sequences.
 */
export type StubCounter = {
  http: number;
  grpc: number;
  stream: number;
  shm: number;
  sequenceRequests: number;
  sequenceStarts: number;
  sequenceEnds: number;
  connections: number;
  firstNs: bigint;
  lastNs: bigint;
};

/** How late requests came to a constant schedule, µs; NaN where none came. How it is taken stands in stub/lateness.go. */
export type Lateness = { requests: number; p50Us: number; p99Us: number; maxUs: number };

/** Calls of the service `stub.Calls` since the last reset, the messages it received and sent, and the calls that the client ended. */
export type CallCounter = {
  calls: number;
  received: number;
  receivedBytes: number;
  sent: number;
  halfCloses: number;
  cancelled: number;
};

export type Stub = {
  httpPort: number;
  grpcPort: number;
  /** Base URL without TLS for GET /counter, GET /first (answers at the first inference request) and POST /reset. */
  controlUrl: string;
  pid: number;
  counter(): Promise<StubCounter>;
  calls(): Promise<CallCounter>;
  /** Of the requests since the last reset, without those of the first half second. */
  lateness(ratePerSec: number): Promise<Lateness>;
  /** Zeroes the counter and the CPU time; the model's statistics go on. */
  reset(): Promise<void>;
  /** CPU time (user and system) of the stub since the last reset, µs. */
  cpuUs(): Promise<number>;
  stop(): Promise<void>;
};

/** Starts the Go server of ./stub on loopback, building it first when its sources are newer. Needs `go`; dies with this process. */
export async function startStub(options: StubOptions = {}): Promise<Stub> {
  const executable = await buildStub();
  const pin = options.core === undefined ? [] : ["taskset", "-c", String(options.core)];
  const [program = executable, ...args] = [...(options.on?.enter ?? []), ...pin, executable, ...stubFlags(options)];
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ports = await readPorts<{ http: number; grpc: number; control: number }>(child, "the stub", READY_TIMEOUT_MS);
  const control = `http://127.0.0.1:${ports.control}`;
  const ask = (path: string, method?: string): Promise<string> =>
    options.on === undefined
      ? request(`${control}${path}`, method)
      : askOnHost(options.on, ports.control, path, method);
  return {
    httpPort: ports.http,
    grpcPort: ports.grpc,
    controlUrl: control,
    pid: child.pid ?? 0,
    counter: async () => parseCounter(await ask("/counter")),
    calls: async () => JSON.parse(await ask("/calls")) as CallCounter,
    lateness: async (rate) => parseLateness(await ask(`/lateness?rate=${rate}`)),
    reset: async () => void (await ask("/reset", "POST")),
    cpuUs: async () => Number(field(await ask("/counter"), "cpu_us")),
    stop: () => stop(child),
  };
}

/** Path of the built server. */
export function buildStub(): Promise<string> {
  return buildGo("stub");
}

function stubFlags({ tls, httpPort = 0, grpcPort = 0, on }: StubOptions): string[] {
  const address = on?.address ?? "127.0.0.1";
  const flags = ["-until-stdin-ends", "-http", `${address}:${httpPort}`, "-grpc", `${address}:${grpcPort}`];
  if (tls) flags.push("-tls-cert", tls.certFile, "-tls-key", tls.keyFile);
  if (tls?.clientCaFile) flags.push("-client-ca", tls.clientCaFile);
  return flags;
}

async function request(url: string, method = "GET"): Promise<string> {
  const signal = AbortSignal.timeout(60_000);
  return (await fetch(url, { method, headers: { connection: "close" }, signal })).text();
}

// Nanoseconds since 1970 do not fit a double, so the text is read instead of JSON.parse's numbers.
function field(text: string, name: string): string {
  return new RegExp(`"${name}":(\\d+)`).exec(text)?.[1] ?? "0";
}

function parseCounter(text: string): StubCounter {
  return {
    http: Number(field(text, "http")),
    grpc: Number(field(text, "grpc")),
    stream: Number(field(text, "stream")),
    shm: Number(field(text, "shm")),
    sequenceRequests: Number(field(text, "sequence_requests")),
    sequenceStarts: Number(field(text, "sequence_starts")),
    sequenceEnds: Number(field(text, "sequence_ends")),
    connections: Number(field(text, "connections")),
    firstNs: BigInt(field(text, "first_ns")),
    lastNs: BigInt(field(text, "last_ns")),
  };
}

function parseLateness(text: string): Lateness {
  const raw: { requests: number; p50_us: number; p99_us: number; max_us: number } = JSON.parse(text);
  const of = (us: number) => (raw.requests === 0 ? Number.NaN : us);
  return { requests: raw.requests, p50Us: of(raw.p50_us), p99Us: of(raw.p99_us), maxUs: of(raw.max_us) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL"); // it keeps nothing that would need a clean end
  await ended;
}
