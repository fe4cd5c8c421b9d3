// npm run bench:connections [-- --connections N --streams N --executable FILE]
//
// Holds 50,000 connections and 20,000 streams open at once: servers and clients are processes of this host, as many as its limit of descriptors
// (ulimit -n) needs, at loopback addresses of their own. Writes its table into README.md here, and exits with 1 when a request failed or a
// connection was missing. Takes about three minutes and 6 GB of memory. Needs Linux and Go.
import { existsSync, readFileSync } from "node:fs";
import { freemem, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { formatCount } from "../../../src/plan/units.ts";
import { describeMachine } from "../../../src/runtime/machine.ts";
import { root } from "../clients.ts";
import { type Goal, judgeGoal } from "../goals.ts";
import { writeFigures } from "../write-figures.ts";
import { type HeldOpen, holdOpen, type OpenLoad } from "./hold-open.ts";

/** Descriptors of a process besides its connections. */
const OTHER_FILES = 200;
/** Memory that a connection may take on both ends, and all of it that must be left. */
const MOST_BYTES = 100_000;
const LEAST_FREE_BYTES = 2e9;
const LIMIT_MS = 180_000;
const KIB = 1024;

/** What other programs do on this machine. */
const [loadBefore = 0] = loadavg();

const { values } = parseArgs({
  options: {
    connections: { type: "string", default: "50000" },
    streams: { type: "string", default: "20000" },
    executable: { type: "string", default: join(root, "dist", "rampart") },
  },
});
process.exitCode = await main();

async function main(): Promise<number> {
  const executable = resolve(values.executable);
  const fromSource = [join(root, "node_modules", ".bin", "bun"), join(root, "src", "main.ts")];
  const command = existsSync(executable) ? [executable] : fromSource;
  const [connections, streams] = [Number(values.connections), Number(values.streams)];
  const loads = [loadOf("connections", connections), loadOf("streams", streams)].filter(({ count }) => count > 0);
  const rows: string[] = [];
  const goals: Goal[] = [];
  for (const load of loads) {
    if (load.count * MOST_BYTES + LEAST_FREE_BYTES > freemem())
      throw new Error(`${formatCount(load.count)} ${load.kind} need more memory than is free`);
    const held = await holdOpen(command, load);
    goals.push(...goalsOf(load, held));
    rows.push(rowOf(load, held));
    console.log(rows.at(-1));
  }
  const report = `${headOf()}\n${rows.join("\n")}\n`;
  console.log(report);
  const isGood = goals.every(({ passed }) => passed);
  if (connections >= 50_000 && streams >= 20_000) writeFigures("bench:connections", { report, goals });
  return isGood ? 0 : 1;
}

function loadOf(kind: OpenLoad["kind"], count: number): OpenLoad {
  const files = Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? "1024");
  const processes = Math.max(1, Math.ceil(count / (files - OTHER_FILES)));
  return {
    ...{ kind, count, clients: processes, servers: processes, serversEach: 1, sources: 2, limitMs: LIMIT_MS },
    ...(kind === "streams"
      ? { answerMs: 15_000, tokens: 20, tokenMs: 1000 }
      : { answerMs: 20_000, tokens: 1, tokenMs: 0 }),
  };
}

function mostOf({ kind }: OpenLoad, { mostStreams, mostOpen }: HeldOpen): number {
  return kind === "streams" ? mostStreams : mostOpen;
}

function goalsOf(load: OpenLoad, held: HeldOpen): readonly Goal[] {
  const what = `${formatCount(load.count)} ${load.kind}`;
  const missing = Math.max(0, load.count - Math.min(held.completed, mostOf(load, held))) + held.failed;
  return [
    judgeGoal(`${what}: missing or failed`, missing, 0),
    judgeGoal(`${what}: client KiB each`, held.clientBytes / KIB),
  ];
}

function headOf(): string {
  const { cpu, cores, os, runtime } = describeMachine();
  const columns = [
    "open at once",
    "processes a side",
    "opened/s",
    "client KiB each",
    "host KiB each",
    "failed",
    "backlog overflows",
    "response late by p50 ms",
    "p99 ms",
  ];
  const date = new Date().toISOString().slice(0, 10);
  return [
    `Measured ${date} on ${cpu}, ${cores} cores, ${os}, ${runtime}. Clients and servers share the cores, and the load average before was ${loadBefore.toFixed(1)}.`,
    "",
    `| ${columns.join(" | ")} |`,
    `| --- |${" ---: |".repeat(columns.length - 1)}`,
  ].join("\n");
}

function rowOf(load: OpenLoad, held: HeldOpen): string {
  const { kind, clients, answerMs, tokens, tokenMs } = load;
  const takesUs = (answerMs + (tokens - 1) * tokenMs) * 1000;
  const late = [held.latencyP50Us, held.latencyP99Us].map((us) => ((us - takesUs) / 1000).toFixed(0));
  const cells = [
    `${formatCount(mostOf(load, held))} ${kind}`,
    clients,
    formatCount(Math.round(held.perSec)),
    (held.clientBytes / KIB).toFixed(1),
    (held.hostBytes / KIB).toFixed(1),
    held.failed,
    held.overflows,
    ...late,
  ];
  return `| ${cells.join(" | ")} |`;
}
