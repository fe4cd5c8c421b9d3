import { hostname, networkInterfaces } from "node:os";
import type { BusPlan } from "../../plan/plan.ts";
import { messageOf, RunError } from "../../plan/problem.ts";
import { registerSecret } from "../../plan/secrets.ts";
import { sleepMs } from "../../runtime/clock.ts";
import { isMpiRank, type MpiWorld, openMpi } from "../../runtime/mpi.ts";
import { startAgent } from "./bus/agent.ts";
import { openTcpBus, openTcpHub } from "./bus/tcp-bus.ts";

/** The ranks of an MPI job as one fleet: rank 0 conducts, and the others send. */

/** Where the others find rank 0. */
interface Rendezvous {
  /** Addresses of its host, the likeliest first. */
  readonly hosts: readonly string[];
  readonly port: number;
  readonly token: string;
}

const POLL_MS = 2;
/** Longest wait for the others' replies that they are there. */
const AGENTS_WAIT_MS = 60_000;

/** A process's place in the fleet. */
export type FleetPlace =
  /** Nobody else sends. */
  | { readonly kind: "alone" }
  | { readonly kind: "conductor"; readonly bus: BusPlan; close(): Promise<void> }
  /** Resolves when the conductor has ended. */
  | { readonly kind: "agent"; readonly ended: Promise<void> };

/**
 * Joins the fleet of this MPI job, if the process belongs to one with several ranks.
 * @throws RunError when MPI cannot be used: the ranks would measure beside each other, each with the whole load
 */
export async function joinMpiFleet(): Promise<FleetPlace> {
  // A single process needs no MPI, which may not be installed.
  if (!isMpiRank() || isOnlyRank(process.env)) return { kind: "alone" };
  const world = await openMpi().catch((error: unknown) => {
    const message = `this is a rank of an MPI job, and MPI cannot be used: ${messageOf(error)}`;
    throw new RunError("refused", message, "Install Open MPI on its host, or start one process without mpirun.");
  });
  if (world.size === 1) {
    world.finalize();
    return { kind: "alone" };
  }
  return world.rank === 0 ? conduct(world) : { kind: "agent", ended: serve(world) };
}

/** Whether the launcher says that it has started one process. Slurm gives the number of a step's. */
function isOnlyRank(env: Readonly<Record<string, string | undefined>>): boolean {
  return (env["OMPI_COMM_WORLD_SIZE"] ?? env["PMI_SIZE"] ?? env["SLURM_STEP_NUM_TASKS"]) === "1";
}

async function conduct(world: MpiWorld): Promise<FleetPlace> {
  const hub = await openTcpHub();
  const { port, token } = hub;
  registerSecret(token);
  for (let rank = 1; rank < world.size; rank++)
    sendText(world, rank, JSON.stringify({ hosts: addresses(), port, token }));
  return {
    kind: "conductor",
    bus: { url: `tcp://${token}@127.0.0.1:${port}`, agentCount: world.size - 1, waitMs: AGENTS_WAIT_MS },
    close: async () => {
      hub.close();
      world.finalize();
    },
  };
}

/** Sends the load of the conductor's runs until it ends. */
async function serve(world: MpiWorld): Promise<void> {
  const { hosts, port, token } = JSON.parse(await receiveText(world)) as Rendezvous;
  const url = await firstReachable(
    hosts.map((host) => `tcp://${token}@${host.includes(":") ? `[${host}]` : host}:${port}`),
  );
  const bus = await openTcpBus(url);
  const agent = await startAgent({ url }, { ready: () => {}, began: () => {}, ended: () => {} });
  await bus.ended;
  await agent.close();
  world.finalize();
}

async function firstReachable(urls: readonly string[]): Promise<string> {
  let problem: unknown;
  for (const url of urls)
    try {
      await (await openTcpBus(url)).close();
      return url;
    } catch (error) {
      problem ??= error;
    }
  throw problem;
}

/** Addresses of this host: first those by which other hosts may reach it; last, that by which only this one can. */
function addresses(): string[] {
  const found = Object.values(networkInterfaces()).flatMap((list = []) => list);
  const outside = found.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address);
  return [...new Set([hostname(), ...outside, "127.0.0.1"])];
}

/** Sends a text in 32-bit integers: its length, then its characters. */
function sendText(world: MpiWorld, rank: number, text: string): void {
  const bytes = Buffer.from(text);
  world.send(rank, bytes.length);
  for (const byte of bytes) world.send(rank, byte);
}

async function receiveText(world: MpiWorld): Promise<string> {
  const next = async (): Promise<number> => {
    for (;;) {
      const received = world.receive();
      if (received !== undefined) return received.value;
      await sleepMs(POLL_MS);
    }
  };
  const bytes = new Uint8Array(await next());
  for (let at = 0; at < bytes.length; at++) bytes[at] = await next();
  return Buffer.from(bytes).toString();
}
