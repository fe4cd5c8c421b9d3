import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { makeFolder } from "../../make-folder.ts";
import { type LlmStub, startLlmStub } from "../../servers/llm-stub.ts";
import { root } from "../clients.ts";
import { readMemory } from "../memory/watch.ts";

/** Holds many connections open at once, each with a request or a stream, with as many processes as the limit of descriptors needs. */

/** What is held open. */
export interface OpenLoad {
  /** `connections`: each waits for one response. `streams`: each receives tokens. */
  readonly kind: "connections" | "streams";
  readonly count: number;
  /** Processes on either side. */
  readonly clients: number;
  readonly servers: number;
  /** Servers of each client: all of its users have a connection to each of them, and send to one. */
  readonly serversEach: number;
  /** Source addresses of each client. */
  readonly sources: number;
  /** Time to the response, or to the first token. Connections must all be open before. */
  readonly answerMs: number;
  /** Tokens of a stream, and the time between them. */
  readonly tokens: number;
  readonly tokenMs: number;
  readonly limitMs: number;
}

/** What was seen. */
export interface HeldOpen {
  /** Most connections that were open at once, and most streams that were between their first and last token. */
  readonly mostOpen: number;
  readonly mostStreams: number;
  /** Most connections that each server had at once, and the addresses that they came from. */
  readonly servers: readonly { readonly mostOpen: number; readonly hosts: readonly string[] }[];
  /** Opened per second, of all clients together, from the fifth to the ninety-fifth part of a hundred. */
  readonly perSec: number;
  readonly completed: number;
  readonly failed: number;
  /** By the clients' reports. */
  readonly connections: number;
  /** Resident memory of the clients for each connection, above that of a run with one; bytes. */
  readonly clientBytes: number;
  /** All memory of this host for each connection, of both ends and the kernel; bytes. */
  readonly hostBytes: number;
  /** Handshakes that a server's backlog had no room for. */
  readonly overflows: number;
  /** Worst of the clients, µs. */
  readonly latencyP50Us: number;
  readonly latencyP99Us: number;
}

const SAMPLE_MS = 50;
const BYTES_PER_MB = 1024 ** 2;
/** Time between looks at every single connection, which take some tenths of a second. */
const LOOK_MS = 1000;
const NEARLY_ALL = 0.98;
const FIRST_SOURCE = 10;
const BUFFER_BYTES = 4096;
/** The servers are at 127.0.1.1 and up, the sources of client c at 127.0.(10 + c).1 and up. */
const serverHost = (index: number): string => `127.0.1.${1 + index}`;
const sourceHost = (client: number, index: number): string => `127.0.${FIRST_SOURCE + client}.${1 + index}`;

/** @param command starts Rampart: program and first arguments */
export async function holdOpen(command: readonly string[], load: OpenLoad): Promise<HeldOpen> {
  const folder = makeFolder();
  const { answerMs: ttftMs, tokenMs: itlMs, tokens } = load;
  const starting = Array.from({ length: load.servers }, (_, index) =>
    startLlmStub({ host: serverHost(index), bufferBytes: BUFFER_BYTES, ttftMs, itlMs, tokens }),
  );
  const stubs = await Promise.all(starting);
  const clients = new Set<Client>();
  const killAll = (): void => {
    for (const client of clients) client.kill();
  };
  const limit = setTimeout(killAll, load.limitMs);
  try {
    const start = (index: number, users: number): Client => {
      const client = new Client([...command, ...writeScenario(folder, load, stubs, index, users)], folder, index);
      clients.add(client);
      return client;
    };
    const alone = start(0, 1);
    await alone.ended;
    for (const stub of stubs) await stub.reset(true);
    return await measure(load, stubs, start, alone.peakBytes);
  } finally {
    clearTimeout(limit);
    killAll();
    await Promise.all(stubs.map((stub) => stub.stop()));
  }
}

async function measure(
  load: OpenLoad,
  stubs: readonly LlmStub[],
  start: (index: number, users: number) => Client,
  aloneBytes: number,
): Promise<HeldOpen> {
  const before = readHost();
  const users = load.count / load.serversEach;
  const share = Math.ceil(users / load.clients);
  const clients = Array.from({ length: load.clients }, (_, index) =>
    start(index, Math.min(share, users - index * share)),
  );
  const ended = Promise.all(clients.map((client) => client.ended));
  const watch = await watchHost(load, before, ended);
  const reports = await ended;
  const sum = (of: (report: Report) => number): number => reports.reduce((total, report) => total + of(report), 0);
  const worst = (of: (report: Report) => number): number => Math.max(...reports.map(of));
  const counters = await Promise.all(stubs.map((stub) => stub.counter()));
  const peakBytes = clients.reduce((total, { peakBytes: peak }) => total + peak, 0);
  return {
    mostOpen: watch.mostOpen,
    mostStreams: load.kind === "streams" ? await countStreams(stubs) : 0,
    servers: counters.map(({ mostOpen, hosts }) => ({ mostOpen, hosts })),
    perSec: watch.perSec,
    completed: sum(({ requests }) => requests.completed),
    failed: sum(({ requests }) => requests.failed),
    connections: sum(({ connections }) => connections),
    clientBytes: (peakBytes - load.clients * aloneBytes) / load.count,
    hostBytes: (before.freeBytes - watch.leastFreeBytes) / load.count,
    overflows: readHost().overflows - before.overflows,
    latencyP50Us: worst(({ levels: [level] }) => level?.metrics.latencyUs.p50 ?? Number.NaN),
    latencyP99Us: worst(({ levels: [level] }) => level?.metrics.latencyUs.p99 ?? Number.NaN),
  };
}

interface Watched {
  readonly mostOpen: number;
  readonly perSec: number;
  readonly leastFreeBytes: number;
}

/** Watches this host until the clients have ended. Other programs may open sockets too, so that the number of all of them says only when to look closer. */
async function watchHost(load: OpenLoad, before: HostState, ended: Promise<unknown>): Promise<Watched> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  ended.then(over, over);
  const samples: { readonly atMs: number; readonly open: number }[] = [];
  let leastFreeBytes = before.freeBytes;
  let mostOpen = 0;
  let lookedMs = Number.NEGATIVE_INFINITY;
  while (!isOver) {
    const { sockets, freeBytes } = readHost();
    // Both ends are of this host.
    const open = (sockets - before.sockets) / 2;
    const atMs = performance.now();
    samples.push({ atMs, open });
    leastFreeBytes = Math.min(leastFreeBytes, freeBytes);
    if (open >= load.count * NEARLY_ALL && atMs - lookedMs >= LOOK_MS) {
      mostOpen = Math.max(mostOpen, countOpen());
      lookedMs = performance.now();
    }
    await wait(SAMPLE_MS);
  }
  const [first, last] = [0.05, 0.95].map((part) => samples.find(({ open }) => open >= load.count * part));
  const openedMs = (last?.atMs ?? Number.NaN) - (first?.atMs ?? Number.NaN);
  const perSec = ((last?.open ?? 0) - (first?.open ?? 0)) / (openedMs / 1000);
  return { mostOpen, perSec, leastFreeBytes };
}

/** The part of a report that is read. */
interface Report {
  readonly requests: { readonly completed: number; readonly failed: number };
  readonly connections: number;
  readonly levels: readonly {
    readonly metrics: { readonly latencyUs: { readonly p50: number; readonly p99: number } };
  }[];
}

/** One process of Rampart. */
class Client {
  /** Resolves with its report; rejects when it has none. */
  readonly ended: Promise<Report>;
  peakBytes = 0;
  private readonly child: ChildProcess;

  constructor(command: readonly string[], folder: string, index: number) {
    const [program = "", ...args] = command;
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
    this.child = child;
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    const watch = setInterval(() => {
      this.peakBytes = Math.max(this.peakBytes, readMemory(child.pid ?? 0).highestMb * BYTES_PER_MB);
    }, SAMPLE_MS);
    this.ended = once(child, "close").then(([code]) => {
      clearInterval(watch);
      if (code !== 0) throw new Error(`a client ended with ${String(code)}: ${errors.slice(-600)}`);
      return JSON.parse(readFileSync(reportOf(folder, index), "utf8")) as Report;
    });
    this.ended.catch(() => {});
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }
}

function reportOf(folder: string, index: number): string {
  return join(folder, `${index}.json`);
}

/** Writes the scenario of a client; returns the arguments that run it. All of its users send one request, once all are connected. */
function writeScenario(
  folder: string,
  { kind, sources, serversEach }: OpenLoad,
  stubs: readonly LlmStub[],
  index: number,
  users: number,
): string[] {
  const urls = Array.from({ length: serversEach }, (_, one) => {
    const server = (index + one) % stubs.length;
    return `${serverHost(server)}:${stubs[server]?.port}`;
  });
  const addresses = Array.from({ length: sources }, (_, source) => sourceHost(index, source));
  const fields = {
    name: "open",
    sourceAddresses: addresses,
    // The memory of this host is known to suffice.
    maxInFlight: users,
    stallTimeout: "2 min",
  };
  const path = join(folder, `${index}-${users}.ts`);
  const target = `openai(${JSON.stringify(urls)}, { model: "m", tokenizer: "none", streaming: ${kind === "streams"} })`;
  writeFileSync(join(folder, "prompts.jsonl"), '{"text":"x"}\n');
  writeFileSync(
    path,
    `import { defineScenario, hold, input, openai } from "rampart";
export default defineScenario({ ...${JSON.stringify(fields)}, target: ${target}, inputs: input.prompts({ file: "prompts.jsonl" }), load: hold(${users}, { requests: ${users} }) });
`,
  );
  return ["run", path, "--json", reportOf(folder, index), "--no-live"];
}

interface HostState {
  /** Established and other TCP sockets in use. */
  readonly sockets: number;
  readonly freeBytes: number;
  readonly overflows: number;
}

function readHost(): HostState {
  const sockets = /^TCP: inuse (\d+)/m.exec(readFileSync("/proc/net/sockstat", "utf8"))?.[1];
  const freeKib = /^MemAvailable:\s+(\d+)/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1];
  const [names = "", values = ""] = readFileSync("/proc/net/netstat", "utf8").split("\n");
  const overflows = values.split(" ")[names.split(" ").indexOf("ListenOverflows")];
  return { sockets: Number(sockets), freeBytes: Number(freeKib) * 1024, overflows: Number(overflows) };
}

/** Counts the open connections from 127.0.10.0 on. A connection that moves while they are read is there twice. */
function countOpen(): number {
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
  const places = lines.flatMap((line) => {
    // Addresses are words of the machine's byte order, such as 0100007F. State 01 is an established connection.
    const [, d, c, b, a, port] = /^\s*\d+: (\w\w)(\w\w)(\w\w)(\w\w):(\w+) \w+:\w+ 01 /.exec(line) ?? [];
    const bytes = [a, b, c, d].map((byte) => Number(`0x${byte}`));
    return bytes[0] === 127 && (bytes[2] ?? 0) >= FIRST_SOURCE ? [`${bytes.join(".")}:${port}`] : [];
  });
  return new Set(places).size;
}

/** Returns the most streams that were between their first and last token at the same time, of all servers. Their clocks differ by their starts. */
async function countStreams(stubs: readonly LlmStub[]): Promise<number> {
  let most = 0;
  for (const stub of stubs) {
    const log = await stub.log();
    const edges = log.flatMap(({ firstNs, lastNs }) => [
      [firstNs, 1],
      [lastNs, -1],
    ]) as [number, number][];
    let open = 0;
    let mostHere = 0;
    for (const [, change] of edges.sort(([a], [b]) => a - b)) {
      open += change;
      mostHere = Math.max(mostHere, open);
    }
    most += mostHere;
  }
  return most;
}
