import { hostname, networkInterfaces } from "node:os";
import type { BusPlan } from "../../plan/plan.ts";
import { messageOf, RunError } from "../../plan/problem.ts";
import { registerSecret } from "../../plan/secrets.ts";
import { sleepMs, sleepUnless } from "../../runtime/clock.ts";
import { findLaunch } from "../../runtime/launch/launcher.ts";
import { openMpi } from "../../runtime/launch/mpi.ts";
import { startAgent } from "./bus/agent.ts";
import { openTcpBus, openTcpHub, type TcpBus } from "./bus/tcp-bus.ts";
import { type Meeting, mpiMeeting, slurmMeeting } from "./meeting.ts";

/** The processes of an MPI job or of a step of Slurm as one fleet: rank 0 conducts, and the others send. */

/** Address of rank 0, for the others. */
interface Rendezvous {
  /** Addresses of its host, the most likely one first. */
  readonly hosts: readonly string[];
  readonly port: number;
  readonly token: string;
}

/** Maximum wait of rank 0 for the replies of the others, and of the others for rank 0. */
const WAIT_MS = 60_000;
const RETRY_MS = 200;
/** Longest wait of rank 0, when its run has ended early, for ranks that start later. */
const LATE_MS = 5000;
/** One to see the end of rank 0, and the agent's own. */
const CONNECTIONS_PER_RANK = 2;

/** A process's place in the fleet. */
export type FleetPlace =
  /** This process was started alone. */
  | { readonly kind: "alone" }
  | { readonly kind: "conductor"; readonly bus: BusPlan; close(): Promise<void> }
  /** This process sends. `ended` resolves when the conductor has ended. */
  | { readonly kind: "agent"; readonly ended: Promise<void> };

/**
 * Joins the processes that were started together with this one, if there are any.
 * @throws RunError when the processes cannot connect: each of them would send the whole load
 */
export async function joinLaunchedFleet(): Promise<FleetPlace> {
  const launch = findLaunch();
  if (launch === undefined) return { kind: "alone" };
  const meeting = launch.kind === "slurm" ? slurmMeeting(launch, process.cwd()) : mpiMeeting(await requireMpi());
  if (meeting.size === 1) {
    await meeting.end();
    return { kind: "alone" };
  }
  return meeting.rank === 0 ? conduct(meeting) : { kind: "agent", ended: serve(meeting) };
}

async function requireMpi(): ReturnType<typeof openMpi> {
  return openMpi().catch((error: unknown) => {
    const message = `this is a rank of an MPI job, and MPI cannot be used: ${messageOf(error)}`;
    throw new RunError("refused", message, "Install Open MPI on its host, or start one process without mpirun.");
  });
}

async function conduct(meeting: Meeting): Promise<FleetPlace> {
  const hub = await openTcpHub();
  const { port, token } = hub;
  registerSecret(token);
  await meeting.tell(JSON.stringify({ hosts: addresses(), port, token } satisfies Rendezvous));
  return {
    kind: "conductor",
    bus: { url: `tcp://${token}@127.0.0.1:${port}`, agentCount: meeting.size - 1, waitMs: WAIT_MS },
    close: async () => {
      // A rank that cannot reach this one fails, and the launcher then ends this one before it says why its run ended.
      await sleepUnless(LATE_MS, hub.joined(CONNECTIONS_PER_RANK * (meeting.size - 1)));
      hub.close();
      await meeting.end();
    },
  };
}

/** Sends the load of the conductor's runs until it ends. */
async function serve(meeting: Meeting): Promise<void> {
  const { url, bus } = await findConductor(meeting);
  const agent = await startAgent({ url }, { ready: () => {}, began: () => {}, ended: () => {} }).catch(
    async (error: unknown) => {
      await sleepUnless(RETRY_MS, bus.ended);
      // Otherwise the conductor has already ended.
      if (bus.isConnected) throw error;
    },
  );
  await bus.ended;
  await agent?.close();
  await meeting.end();
}

/** Connects to rank 0. The first address found may be from an earlier step with the same number. */
async function findConductor(meeting: Meeting): Promise<{ readonly url: string; readonly bus: TcpBus }> {
  const endMs = Date.now() + WAIT_MS;
  for (;;)
    try {
      const { hosts, port, token } = JSON.parse(await meeting.hear(endMs)) as Rendezvous;
      return await firstReachable(
        hosts.map((host) => `tcp://${token}@${host.includes(":") ? `[${host}]` : host}:${port}`),
      );
    } catch (error) {
      if (!meeting.mayHearAgain || Date.now() > endMs) throw error;
      await sleepMs(RETRY_MS);
    }
}

async function firstReachable(urls: readonly string[]): Promise<{ readonly url: string; readonly bus: TcpBus }> {
  let problem: unknown;
  for (const url of urls)
    try {
      return { url, bus: await openTcpBus(url) };
    } catch (error) {
      problem ??= error;
    }
  throw problem;
}

/** Addresses of this host, first those that other hosts may reach, last the loopback address. */
function addresses(): string[] {
  const found = Object.values(networkInterfaces()).flatMap((list = []) => list);
  const outside = found.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address);
  return [...new Set([hostname(), ...outside, "127.0.0.1"])];
}
