import type { Plan } from "../../plan/plan.ts";
import { wasTimeSet } from "../../runtime/clock.ts";
import { type HostLimits, limitsOfAgents } from "../host-limits.ts";
import type { LoadSender, SenderListener } from "../send/messages.ts";
import { messageDelayNs, readClocks } from "./clock-offset.ts";
import { FleetSender } from "./fleet-sender.ts";
import { joinHosts } from "./join-parts.ts";
import type { JoinedRequests } from "./joined-requests.ts";
import { type FleetOptions, hostOf, type SeatOptions, SeatSender } from "./seat-sender.ts";

/** Senders that share a plan's load. */
export interface Fleet {
  readonly count: number;
  /** The limits of the agents that send. Absent: this process sends. */
  readonly limits?: HostLimits | undefined;
  /** Time by which the clocks of the senders are set back. */
  readonly delayNs: number;
  /**
   * Returns a sender that combines all of them.
   * @param listener receives ended requests and errors of all of them
   * @param joined receives their single requests. Default: single requests are not needed
   */
  createSender(listener: SenderListener, joined?: JoinedRequests): LoadSender;
  close(): Promise<void>;
}

/**
 * Opens the plan's target at several senders. @throws RunError or UserError when one of them cannot open it; all are
 * closed then
 */
export async function openFleet(plan: Plan, options: FleetOptions): Promise<Fleet> {
  const { signal, elsewhere } = options;
  const maxOutstanding =
    elsewhere === undefined ? options.maxOutstanding : (plan.client.maxOutstanding ?? Number.POSITIVE_INFINITY);
  // Each sender must be able to have one request in flight.
  const count = Math.min(elsewhere?.count ?? options.count, maxOutstanding);
  const seats: SeatSender[] = Array.from(
    { length: count },
    (_, index) => new SeatSender({ index, count }, { ...options, maxOutstanding, drop: (...args) => drop(...args) }),
  );
  // Until the load begins, the loss of a sender is an error.
  let drop: SeatOptions["drop"] = () => undefined;
  void signal.interrupted.then(() => {
    for (const seat of seats) seat.post({ kind: "interrupt" });
  });
  const close = async (): Promise<void> => {
    await Promise.all(seats.map((seat) => seat.close()));
  };
  const readings = elsewhere === undefined ? undefined : await readClocks(seats, (seat) => seat.readClock());
  if (elsewhere === undefined && wasTimeSet()) await readClocks(seats, (seat) => seat.alignClock());
  const delayNs = readings === undefined ? 0 : messageDelayNs(readings);
  const agentsOnHost = agentsByHost(seats);
  const opened = await Promise.allSettled(seats.map((seat) => seat.open(plan, delayNs, agentsOnHost)));
  const failed = opened.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  return {
    count,
    delayNs,
    limits: elsewhere && limitsOf(plan, seats, elsewhere.threads),
    createSender: (listener, joined) => {
      const senders = seats.map((seat, index) => seat.createSender(listener, joined?.listenerOf(index)));
      if (elsewhere === undefined) return new FleetSender(senders, { joined });
      const fleet = new FleetSender(senders, {
        joined,
        hosts: async (runStartNs) => joinHosts(await readClocks(seats, (seat) => seat.describe(runStartNs))),
      });
      const lost = new Set<string>();
      drop = ({ hostId, sender }, heardNs) => {
        lost.add(hostId);
        if (sender === undefined) return undefined;
        // Times of the run are on the clock of the senders.
        const { leftCount, ...missing } = fleet.drop(sender, heardNs - delayNs);
        return { missing, endsRun: leftCount === 0 || lost.size > elsewhere.allowLost };
      };
      return fleet;
    },
    close,
  };
}

/** Returns the joint limits of all agents; undefined if none has reported limits. */
function limitsOf(plan: Plan, seats: readonly SeatSender[], threads: number): HostLimits | undefined {
  const agents = new Map(
    seats.flatMap((seat) => (seat.agentLimits === undefined ? [] : [[seat.hostId, seat.agentLimits]])),
  );
  const [first, ...others] = agents.values();
  return first && limitsOfAgents(plan, [first, ...others], threads);
}

/**
 * Returns the ids of the agents on each host, by the host's name. An agent's name consists of its host's name and its
 * process id.
 */
function agentsByHost(seats: readonly SeatSender[]): ReadonlyMap<string, readonly string[]> {
  const nameById = new Map(seats.map(({ hostId, name }) => [hostId, name]));
  return Map.groupBy(nameById.keys(), (id) => hostOf(nameById.get(id) ?? ""));
}
