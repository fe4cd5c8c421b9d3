import type { Call } from "./call.ts";
import {
  type ClientOptions,
  type CreateClient,
  type LoadClient,
  MOST_STATUS,
  type OwnedTurns,
  type ReceivedCounts,
  type ServerLoad,
} from "./client.ts";
import { type Failure, isCancelled } from "./failure.ts";
import type { WireRequest } from "./request.ts";

/** One of several destinations that share a load: a server of a target, or a member of a mix. */
export interface Destination {
  /** Name in failures and counts. For a server: host and port, as the user wrote them. */
  readonly name: string;
  readonly createClient: CreateClient;
}

/** Rule by which a fan-out chooses the destination of each request. */
export interface Choice {
  /** The field of a call that keeps the index of its destination. */
  readonly field: "server" | "member";
  /** Returns the index of the next request's destination. Called once per request. */
  pick(request: WireRequest): number;
  /** Restarts the turns, for the requests that follow. Absent: choices do not depend on other senders. */
  ownPart?(turns: OwnedTurns): void;
}

/** Each request goes to its `member` of the mix. */
export const BY_MEMBER: Choice = { field: "member", pick: ({ member = 0 }) => member };

/** Requests go to the servers in turn. */
export class ServerTurns implements Choice {
  readonly field = "server";
  private readonly count: number;
  private next: number;
  private stride = 1;
  /** Number of requests after which the turns would repeat the same servers; 0: they may repeat. */
  private cycle = 0;
  private left = 0;

  /** @param first number of the first server; above the count it wraps around. Default: 0 */
  constructor(count: number, first = 0) {
    this.count = count;
    this.next = first % count;
  }

  ownPart({ first, stride, isScheduled }: OwnedTurns): void {
    const { count } = this;
    this.next = first % count;
    this.stride = stride % count;
    let cycle = 1;
    while ((cycle * stride) % count > 0) cycle++;
    this.cycle = isScheduled || cycle === count ? 0 : cycle;
    this.left = this.cycle;
  }

  pick(): number {
    const index = this.next;
    let next = index + this.stride;
    if (this.cycle > 0 && --this.left === 0) {
      this.left = this.cycle;
      next++;
    }
    this.next = next % this.count;
    return index;
  }
}

/**
 * Spreads requests over several destinations, whatever their protocols. Each slot has a separate place at every destination, and with
 * HTTP a separate connection, so that connections can be opened before the measurement.
 */
export class FanOutClient implements LoadClient {
  /** Call of each slot's latest request. */
  readonly calls: Call[] = [];
  private readonly branches: readonly Branch[];
  private readonly choice: Choice;

  /** @param destinations two or more */
  constructor(destinations: readonly Destination[], choice: Choice, options: ClientOptions) {
    this.branches = destinations.map((destination) => new Branch(destination, options));
    this.choice = choice;
  }

  get connectionCount(): number {
    return this.branches.reduce((sum, { client }) => sum + client.connectionCount, 0);
  }

  get resendCount(): number {
    return this.branches.reduce((sum, { client }) => sum + client.resendCount, 0);
  }

  /** Counts of all servers together; undefined for a mix. */
  get received(): ReceivedCounts | undefined {
    const all = this.branches.flatMap(({ client: { received } }) => received ?? []);
    if (this.choice.field === "member" || all.length < this.branches.length) return undefined;
    return {
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      statusCounts: Uint32Array.from({ length: MOST_STATUS + 1 }, (_, status) =>
        all.reduce((sum, { statusCounts }) => sum + (statusCounts[status] as number), 0),
      ),
      unaskedCount: all.reduce((sum, { unaskedCount }) => sum + unaskedCount, 0),
    };
  }

  /** The destinations, or the servers of destinations that have several. */
  get servers(): readonly ServerLoad[] {
    return this.branches.flatMap(({ name, client, sentCount, failedCount }) => {
      const { servers } = client;
      return servers === undefined
        ? [{ name, sentCount, failedCount }]
        : servers.map((server) => ({ ...server, name: joinNames(name, server.name) }));
    });
  }

  async reserve(count: number): Promise<void> {
    const opening = this.branches.map(({ client }) => client.reserve(count));
    const first = this.branches[0] as Branch;
    for (let slot = this.calls.length; slot < count; slot++) this.calls.push(first.client.calls[slot] as Call);
    await Promise.all(opening);
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    const { choice } = this;
    const index = choice.pick(request);
    const branch = this.branches[index] as Branch;
    const { client } = branch;
    branch.sentCount++;
    client.send(slot, request, stamp);
    // Looked up after the send, because a destination with several servers has a call for each.
    const call = client.calls[slot] as Call;
    call[choice.field] = index;
    this.calls[slot] = call;
  }

  ownPart(turns: OwnedTurns): void {
    this.choice.ownPart?.(turns);
  }

  flush(): void {
    for (const { client } of this.branches) client.flush();
  }

  cancel(slot: number, failure: Failure): void {
    const call = this.calls[slot];
    if (call !== undefined) this.branchOf(call).client.cancel(slot, failure);
  }

  attribute(call: Call, failure: Failure): Failure {
    // The plan requested the cancellation; no server caused it.
    if (failure.kind === "cancelled") return failure;
    const branch = this.branchOf(call);
    if (!isCancelled(failure)) branch.failedCount++;
    const { server } = branch.client.attribute?.(call, failure) ?? failure;
    return { ...failure, server: server === undefined ? branch.name : joinNames(branch.name, server) };
  }

  close(): void {
    for (const { client } of this.branches) client.close();
  }

  private branchOf(call: Call): Branch {
    return this.branches[call[this.choice.field]] as Branch;
  }
}

function joinNames(destination: string, server: string): string {
  return `${destination} at ${server}`;
}

/** A destination with its client and its counts. */
class Branch {
  readonly name: string;
  readonly client: LoadClient;
  sentCount = 0;
  failedCount = 0;

  constructor({ name, createClient }: Destination, options: ClientOptions) {
    this.name = name;
    this.client = createClient(options);
  }
}
