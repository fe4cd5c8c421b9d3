// npm run bench:agents [-- --agents 10,100,500 --executable FILE]
//
// One conductor with many agents on a real NATS server: the executable runs a scenario, and the agents send two requests a second each to a Go
// server. Several agents share a process, and otherwise are what `rampart agent` is. Writes its table into README.md here, and exits with 1 when a
// request is missing. Takes about two minutes. Needs Linux, Go and nats-server.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { formatCount } from "../../../src/plan/units.ts";
import { describeMachine } from "../../../src/runtime/machine.ts";
import { findFreePort } from "../../../src/transport/wait-for-address.ts";
import { startNats } from "../../servers/nats.ts";
import { type Stub, startStub } from "../../servers/stub.ts";
import { root } from "../clients.ts";
import { type Goal, judgeGoal } from "../goals.ts";
import { readMemory } from "../memory/watch.ts";
import { writeFigures } from "../write-figures.ts";

const DEFAULT = "10,100,500";
const PER_PROCESS = 250;
const RATE_PER_AGENT = 2;
const SECONDS = 15;
const TICKS_PER_SEC = 100;
const SAMPLE_MS = 100;
const LIMIT_MS = 120_000;
const MIB = 1024 ** 2;

/** What other programs do on this machine. */
const [loadBefore = 0] = loadavg();
const { values } = parseArgs({
  options: {
    agents: { type: "string", default: DEFAULT },
    executable: { type: "string", default: join(root, "dist", "rampart") },
  },
});
process.exitCode = await main();

/** What was seen of a conductor. */
interface Conducted {
  readonly code: number | null;
  readonly output: string;
  readonly peakBytes: number;
  readonly cpuSec: number;
  readonly wallSec: number;
  readonly messagesPerSec: number;
  /** CPU time of all agents together, and of the bus. */
  readonly agentsCpuSec: number;
  readonly busCpuSec: number;
  readonly completed: number;
  readonly received: number;
  /** From the start of the program to the first request at the server. */
  readonly startSec: number;
  readonly hosts: readonly { readonly lateMs: number; readonly clockErrorMs: number }[];
}

async function main(): Promise<number> {
  const executable = resolve(values.executable);
  const fromSource = [join(root, "node_modules", ".bin", "bun"), join(root, "src", "main.ts")];
  const command = existsSync(executable) ? [executable] : fromSource;
  const counts = values.agents.split(",").map(Number);
  const stub = await startStub();
  const rows: string[] = [];
  const goals: Goal[] = [];
  try {
    for (const count of counts) {
      const conducted = await conduct(command, stub, count);
      goals.push(...goalsOf(count, conducted));
      rows.push(rowOf(count, conducted));
      console.log(rows.at(-1));
      if (!isWhole(count, conducted)) console.log(conducted.output);
    }
  } finally {
    await stub.stop();
  }
  const report = `${headOf()}\n${rows.join("\n")}\n`;
  console.log(report);
  const isGood = goals.every(({ passed }) => passed);
  if (values.agents === DEFAULT) writeFigures("bench:agents", { report, goals });
  return isGood ? 0 : 1;
}

async function conduct(command: readonly string[], stub: Stub, count: number): Promise<Conducted> {
  const folder = mkdtempSync(join(tmpdir(), "rampart-many-"));
  const monitorPort = await findFreePort();
  const nats = await startNats({ args: ["-m", String(monitorPort)] });
  const holders: ChildProcess[] = [];
  try {
    for (let left = count; left > 0; left -= PER_PROCESS)
      holders.push(await hold(nats.url, Math.min(PER_PROCESS, left)));
    const scenario = `import { defineScenario, errorRate, rate, triton } from "rampart";
export default defineScenario({
  name: "many",
  target: triton("127.0.0.1:${stub.httpPort}", { model: "simple" }),
  load: rate(${count * RATE_PER_AGENT}, { for: "${SECONDS} s" }),
  assert: [errorRate().is(0)],
});
`;
    const file = join(folder, "many.ts");
    writeFileSync(file, scenario);
    await stub.reset();
    const agentsCpuSec = (): number => holders.reduce((sum, { pid }) => sum + readCpuSec(pid ?? 0), 0);
    const before = { messages: await readMessages(monitorPort), agents: agentsCpuSec(), bus: readCpuSec(nats.pid) };
    const watched = await watch(command, { file, json: join(folder, "many.json"), stub, count, busUrl: nats.url });
    return {
      ...watched,
      messagesPerSec: ((await readMessages(monitorPort)) - before.messages) / watched.wallSec,
      agentsCpuSec: agentsCpuSec() - before.agents,
      busCpuSec: readCpuSec(nats.pid) - before.bus,
    };
  } finally {
    await Promise.all(holders.map(endHolder));
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function hold(url: string, count: number): Promise<ChildProcess> {
  const bun = join(root, "node_modules", ".bin", "bun");
  const args = [join(import.meta.dirname, "hold-agents.ts"), url, String(count)];
  const child = spawn(bun, args, { stdio: ["pipe", "pipe", "inherit"] });
  await once(child.stdout as NonNullable<ChildProcess["stdout"]>, "data");
  return child;
}

async function endHolder(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.stdin?.end();
  const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
  await ended;
  clearTimeout(timer);
}

interface Watched {
  readonly file: string;
  readonly json: string;
  readonly stub: Stub;
  readonly count: number;
  readonly busUrl: string;
}

async function watch(
  command: readonly string[],
  { file, json, stub, count, busUrl }: Watched,
): Promise<Omit<Conducted, "messagesPerSec" | "agentsCpuSec" | "busCpuSec">> {
  const [program = "", ...first] = command;
  const options = ["--bus", busUrl, "--agents", String(count), "--agents-wait", "30 s", "--json", json];
  const startMs = Date.now();
  const child = spawn(program, [...first, "run", file, ...options], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const ended = once(child, "close") as Promise<[number | null]>;
  const seen = { peakBytes: 0, cpuSec: 0 };
  const isOver = ended.then(() => true);
  while (!(await Promise.race([isOver, wait(SAMPLE_MS, false)]))) sample(child.pid as number, seen);
  clearTimeout(limit);
  const [code] = await ended;
  const wallSec = (Date.now() - startMs) / 1000;
  const { http: received, firstNs } = await stub.counter();
  const report = existsSync(json) ? JSON.parse(readFileSync(json, "utf8")) : { requests: { completed: 0 }, hosts: [] };
  return {
    ...{ code, output, wallSec, received, ...seen },
    completed: report.requests.completed,
    startSec: (Number(firstNs) / 1e6 - startMs) / 1000,
    hosts: report.hosts ?? [],
  };
}

/** Reads a process's memory and CPU time, while it runs. */
function sample(pid: number, seen: { peakBytes: number; cpuSec: number }): void {
  seen.peakBytes = Math.max(seen.peakBytes, readMemory(pid).highestMb * MIB);
  seen.cpuSec = Math.max(seen.cpuSec, readCpuSec(pid));
}

/** CPU time of a process so far; 0 once it has ended. */
function readCpuSec(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SEC;
  } catch {
    return 0;
  }
}

function isWhole(count: number, { code, completed, received }: Conducted): boolean {
  return code === 0 && completed === received && completed >= count * RATE_PER_AGENT * SECONDS * 0.99;
}

/** A run that failed misses all of its requests. */
function goalsOf(count: number, conducted: Conducted): readonly Goal[] {
  const missing = isWhole(count, conducted) ? 0 : count * RATE_PER_AGENT * SECONDS - conducted.completed;
  return [
    judgeGoal(
      `${formatCount(count)} agents: requests missing`,
      Math.max(isWhole(count, conducted) ? 0 : 1, missing),
      0,
    ),
    judgeGoal(`${formatCount(count)} agents: messages/s`, conducted.messagesPerSec),
  ];
}

/** Returns the number of messages that the bus has got. */
async function readMessages(monitorPort: number): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${monitorPort}/varz`);
  return ((await response.json()) as { readonly in_msgs: number }).in_msgs;
}

function headOf(): string {
  const { cpu, cores, os, runtime } = describeMachine();
  const columns = [
    "agents",
    "first request after s",
    "messages/s",
    "conductor: CPU % of a core",
    "peak MiB",
    "bus: CPU %",
    "each agent: CPU %",
  ];
  const more = ["clocks known to ms", "messages late by ms", "requests", "missing"];
  const date = new Date().toISOString().slice(0, 10);
  return [
    `Measured ${date} on ${cpu}, ${cores} cores, ${os}, ${runtime}. Agents, bus, server and conductor share the cores, and the load average before was ${loadBefore.toFixed(1)}.`,
    "",
    `| ${[...columns, ...more].join(" | ")} |`,
    `|${" ---: |".repeat(columns.length + more.length)}`,
  ].join("\n");
}

function rowOf(count: number, seen: Conducted): string {
  const worst = (pick: (host: Conducted["hosts"][number]) => number): string =>
    Math.max(...seen.hosts.map(pick)).toFixed(0);
  const cells = [
    formatCount(count),
    seen.startSec.toFixed(1),
    formatCount(Math.round(seen.messagesPerSec)),
    ((seen.cpuSec / seen.wallSec) * 100).toFixed(0),
    (seen.peakBytes / MIB).toFixed(0),
    ((seen.busCpuSec / seen.wallSec) * 100).toFixed(0),
    ((seen.agentsCpuSec / count / seen.wallSec) * 100).toFixed(2),
    worst(({ clockErrorMs }) => clockErrorMs),
    worst(({ lateMs }) => lateMs),
    formatCount(seen.completed),
    formatCount(seen.received - seen.completed),
  ];
  return `| ${cells.join(" | ")} |`;
}
