import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeIn } from "../make-folder.ts";
import type { Stub } from "../servers/stub.ts";
import { freshCopy } from "./fresh.ts";
import { makeGrpcMessage, makeHttpRequest, makeWrkScript } from "./payload.ts";
import { installGhz, installOha, installPerfAnalyzer, installWrk, type Peer } from "./peers/install.ts";
import { type Latency, readCopy, readGhz, readOha, readPerfAnalyzer, readWrk } from "./read-report.ts";

export const root = fileURLToPath(new URL("../../", import.meta.url));
/** Where the bench leaves its table and keeps what it needs; ignored by git. */
export const benchFolder = join(root, ".cache", "bench");
/** The small Go program that starts clients, and is the plainest of them: see `buildMeasure`. */
export const measureProgram = join(benchFolder, "measure");
/** Copies of the programs that are compared. */
const freshFolder = join(benchFolder, "fresh");
const bin = join(root, "node_modules", ".bin");

export type Way = "http" | "grpc" | "stream";

/** How long one run lasts: the window flag of perf_analyzer (ms) and the duration of tools without windows (s). */
export type Pace = { windowMs: number; durationS: number };

/**
 * What requests are besides usual ones: of sequences (of the stub's second model), with their tensors in shared memory, or sent at a constant
 * rate, in requests per second.
 */
export type Load = {
  way: Way;
  /** Ignored with a rate. */
  concurrency: number;
  sequences?: boolean;
  sharedMemory?: boolean;
  /** The service kind for the flags; default: Triton. */
  serviceKind?: "tfserving" | "torchserve" | "dynamic_grpc";
  ratePerSec?: number;
  /** Client and server are held to a core each. */
  isPinned?: boolean;
  /** Threads that send. Default: one. */
  workers?: number;
  /** Tensors of 1 MiB each way, of the stub's third model. */
  isBulk?: boolean;
};

/** A load generator: how to start it for a load and how to read what it printed. */
export type Client = {
  name: string;
  version: string;
  ways: Way[];
  /** It knows no sequences, shared memory or rates. */
  isPlain?: boolean;
  env?: Record<string, string>;
  command(load: Load, stub: Stub, pace: Pace): string[];
  readReport(output: string): Latency;
};

/** Items of a request, of 128 tensor bytes each: 1 KiB, or 1 MiB. */
const batchOf = ({ isBulk }: Load): number => (isBulk ? 8192 : 8);
const modelOf = ({ isBulk }: Load): string => (isBulk ? "simple_bulk" : "simple");

const allWays: Way[] = ["http", "grpc", "stream"];
export const executableName = "rampart";
export const originalName = "perf_analyzer";
export const copyName = "plain copy";
/** An earlier executable, where one is named: what a change costs shows beside it in the same rounds. */
export const baselineName = "baseline";

/** What a user types after the tool's name; the same words for Rampart and for perf_analyzer. */
export function userFlags(load: Load, stub: Stub, { windowMs }: Pace): string[] {
  const { way, concurrency, ratePerSec } = load;
  const address = `127.0.0.1:${way === "http" ? stub.httpPort : stub.grpcPort}`;
  const protocol = { http: [], grpc: ["-i", "grpc"], stream: ["-i", "grpc", "--streaming"] }[way];
  // A rate is kept over time: measured in windows of perf_analyzer's own length, the first second, in which code is compiled, is a small part.
  const interval = ratePerSec === undefined ? windowMs : 2.5 * windowMs;
  const measured = ["-p", String(interval), "-s", "50", "-r", "6"];
  const amount = ratePerSec === undefined ? ["--concurrency-range", concurrency] : ["--request-rate-range", ratePerSec];
  if (load.serviceKind === "dynamic_grpc") return dynamicFlags(address, load, [...amount.map(String), ...measured]);
  // Sequences and files take no batches.
  const model = load.sequences
    ? ["-m", "simple_sequence"]
    : load.serviceKind === "torchserve"
      ? ["-m", "simple", "--input-data", writeFileList()]
      : ["-m", modelOf(load), "-b", String(batchOf(load))];
  const kind = load.serviceKind === undefined ? [] : ["--service-kind", load.serviceKind];
  const shared = load.sharedMemory ? ["--shared-memory", "system"] : [];
  return [...model, "-u", address, ...kind, ...protocol, ...shared, ...amount.map(String), ...measured];
}

/** Writes a file of as many bytes as the other requests have, and the JSON file that names it, whose path it returns. */
function writeFileList(): string {
  const [list, file] = [join(benchFolder, "torchserve.json"), join(benchFolder, "torchserve.bin")];
  writeFileSync(
    file,
    new Uint8Array(1024).map((_, i) => i),
  );
  writeFileSync(list, JSON.stringify({ data: [{ TORCHSERVE_INPUT: [file] }] }));
  return list;
}

/** Inference as a method of any service: the same message, from a generator that both tools run once. */
function dynamicFlags(address: string, load: Load, more: readonly string[]): string[] {
  mkdirSync(benchFolder, { recursive: true });
  const framed = join(benchFolder, "simple.framed");
  const message = makeGrpcMessage(batchOf(load));
  writeFileSync(framed, Buffer.concat([Buffer.from(new Uint32Array([message.length]).buffer), message]));
  const inputs = join(benchFolder, "generator.json");
  writeFileSync(inputs, JSON.stringify({ data: [{ message_generator: `cat ${framed}` }] }));
  const method = "inference.GRPCInferenceService/ModelInfer";
  const kind = ["--service-kind", "dynamic_grpc", "--grpc-method", method, "--input-data", inputs];
  return ["-u", address, ...kind, ...more];
}

/** The shipped executable, an earlier one where it is named and, with `sources`, the source tree on each runtime. */
export function rampartClients(executable: string, baseline: string | undefined, sources: boolean): Client[] {
  const client = (name: string, program: string[]): Client => ({
    name,
    version: "",
    ways: allWays,
    command: (load, stub, pace) => {
      const workers = load.workers === undefined ? [] : ["--workers", String(load.workers)];
      return [...program, "perf_analyzer", ...userFlags(load, stub, pace), ...workers];
    },
    readReport: readPerfAnalyzer,
  });
  const main = join(root, "src", "main.ts");
  const fromSource = [
    client("source on Bun", [join(bin, "bun"), main]),
    client("source on Deno", [join(bin, "deno"), "run", "-A", main]),
    client("source on Node", [join(bin, "node"), main]),
  ];
  return [
    client(executableName, [freshCopy(executable, freshFolder)]),
    ...(baseline === undefined ? [] : [client(baselineName, [freshCopy(baseline, join(freshFolder, baselineName))])]),
    ...(sources ? fromSource : []),
  ];
}

/** The other load generators, installed where missing. One that cannot be installed is left out, with the reason on stderr. */
export async function peerClients(): Promise<Client[]> {
  mkdirSync(benchFolder, { recursive: true });
  const peers = [
    { install: () => installPerfAnalyzer((folder) => freshCopy(folder, freshFolder)), make: perfAnalyzerClient },
    { install: installWrk, make: wrkClient },
    { install: installOha, make: ohaClient },
    { install: async () => ({ command: [measureProgram], version: "" }), make: copyClient },
    { install: installGhz, make: ghzClient },
  ];
  const clients: Client[] = [];
  for (const { install, make } of peers) {
    try {
      clients.push(make(await install()));
    } catch (error) {
      console.error(`bench: left out: ${error instanceof Error ? error.message : error}`);
    }
  }
  return clients;
}

function perfAnalyzerClient(peer: Peer): Client {
  return {
    name: originalName,
    version: peer.version,
    ways: allWays,
    env: peer.env ?? {},
    command: (load, stub, pace) => [...peer.command, ...userFlags(load, stub, pace)],
    readReport: readPerfAnalyzer,
  };
}

/** Writes something into a file of the bench, whose path it returns. */
function writePayload(name: string, content: string | Uint8Array): string {
  return writeIn(benchFolder, name, content);
}

function inferUrl(stub: Stub, load: Load): string {
  return `http://127.0.0.1:${stub.httpPort}/v2/models/${modelOf(load)}/infer`;
}

function wrkClient(peer: Peer): Client {
  return {
    name: "wrk",
    version: peer.version,
    ways: ["http"],
    isPlain: true,
    env: peer.env ?? {},
    command: (load, stub, { durationS }) => {
      const body = writePayload("simple.body", makeHttpRequest(batchOf(load)).body);
      const script = writePayload("simple.lua", makeWrkScript(batchOf(load), body));
      const flags = ["-t", "1", "-c", String(load.concurrency), "-d", `${durationS}s`, "--latency", "-s", script];
      return [...peer.command, ...flags, inferUrl(stub, load)];
    },
    readReport: readWrk,
  };
}

function ohaClient(peer: Peer): Client {
  return {
    name: "oha",
    version: peer.version,
    ways: ["http"],
    isPlain: true,
    command: (load, stub, { durationS }) => {
      const { headers, body } = makeHttpRequest(batchOf(load));
      const file = writePayload("simple.body", body);
      const amount = [
        "-c",
        String(load.concurrency),
        "-z",
        `${durationS}s`,
        "-w",
        "--no-tui",
        "--output-format",
        "json",
      ];
      const named = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
      return [...peer.command, ...amount, "-m", "POST", ...named, "-D", file, inferUrl(stub, load)];
    },
    readReport: readOha,
  };
}

function copyClient(peer: Peer): Client {
  return {
    // A program that copies the bytes of requests and responses, and does nothing else.
    name: copyName,
    version: peer.version,
    ways: ["http", "grpc"],
    isPlain: true,
    command: (load, stub, { durationS }) => {
      const amount = ["-connections", String(load.concurrency), "-for", `${durationS}s`];
      if (load.way === "grpc") {
        const message = writePayload("simple.bin", makeGrpcMessage(batchOf(load)));
        const call = ["-call", `127.0.0.1:${stub.grpcPort}`, "-path", "/inference.GRPCInferenceService/ModelInfer"];
        return [...peer.command, ...call, "-request", message, ...amount];
      }
      const { headers, body } = makeHttpRequest(batchOf(load));
      const request = bytesOfRequest(new URL(inferUrl(stub, load)).pathname, headers, body);
      const file = writePayload("simple.request", request);
      return [...peer.command, "-copy", `127.0.0.1:${stub.httpPort}`, "-request", file, ...amount];
    },
    readReport: readCopy,
  };
}

/** A POST of HTTP/1.1 as it is sent. */
export function bytesOfRequest(path: string, headers: Record<string, string>, body: Uint8Array): Buffer {
  const lines = Object.entries({ Host: "127.0.0.1", ...headers, "Content-Length": String(body.length) });
  const head = [`POST ${path} HTTP/1.1`, ...lines.map((line) => line.join(": ")), "", ""];
  return Buffer.concat([Buffer.from(head.join("\r\n")), body]);
}

function ghzClient(peer: Peer): Client {
  const proto = fileURLToPath(new URL("./peers/infer.proto", import.meta.url));
  const what = ["--insecure", "--proto", proto, "--call", "inference.GRPCInferenceService/ModelInfer"];
  return {
    name: "ghz",
    version: peer.version,
    ways: ["grpc"],
    isPlain: true,
    command: (load, stub, { durationS }) => {
      const message = writePayload("simple.bin", makeGrpcMessage(batchOf(load)));
      const flags = ["-c", String(load.concurrency), "-z", `${durationS}s`, "--duration-stop", "wait", "-O", "json"];
      return [...peer.command, ...what, "--binary-file", message, ...flags, `127.0.0.1:${stub.grpcPort}`];
    },
    readReport: readGhz,
  };
}
