import {
  type Call,
  type ClientOptions,
  type LoadClient,
  MOST_STATUS,
  type ReceivedCounts,
  type ServerLoad,
} from "./client.ts";
import { type Failure, isCancelled } from "./failure.ts";
import type { WireRequest } from "./request.ts";

/** One of several servers that share a load. */
export interface BalancedServer {
  /** Host and port as the user wrote them. Failures and counts show it. */
  readonly name: string;
  readonly createClient: (options: ClientOptions) => LoadClient;
}

/**
 * Distributes requests over several servers, round robin. Each slot has its own place, and with HTTP its own connection, at every server,
 * so that connections can be opened before the measurement.
 */
export class BalancingClient implements LoadClient {
  /** By slot: the call of its latest request. */
  readonly calls: Call[] = [];
  private readonly parts: readonly ServerPart[];
  private nextIndex = 0;

  /** @param servers two or more */
  constructor(servers: readonly BalancedServer[], options: ClientOptions) {
    this.parts = servers.map((server) => new ServerPart(server, options));
  }

  get connectionCount(): number {
    return this.parts.reduce((sum, { client }) => sum + client.connectionCount, 0);
  }

  get resendCount(): number {
    return this.parts.reduce((sum, { client }) => sum + client.resendCount, 0);
  }

  /** Of all servers together. */
  get received(): ReceivedCounts | undefined {
    const all = this.parts.flatMap(({ client: { received } }) => received ?? []);
    if (all.length < this.parts.length) return undefined;
    return {
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      statusCounts: Uint32Array.from({ length: MOST_STATUS + 1 }, (_, status) =>
        all.reduce((sum, { statusCounts }) => sum + (statusCounts[status] as number), 0),
      ),
    };
  }

  get servers(): readonly ServerLoad[] {
    return this.parts.map(({ name, sentCount, failedCount }) => ({ name, sentCount, failedCount }));
  }

  async reserve(count: number): Promise<void> {
    const opening = this.parts.map(({ client }) => client.reserve(count));
    const first = this.parts[0] as ServerPart;
    for (let slot = this.calls.length; slot < count; slot++) {
      for (const [server, { client }] of this.parts.entries()) (client.calls[slot] as Call).server = server;
      this.calls.push(first.client.calls[slot] as Call);
    }
    await Promise.all(opening);
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    const part = this.parts[this.nextIndex] as ServerPart;
    this.nextIndex = (this.nextIndex + 1) % this.parts.length;
    this.calls[slot] = part.client.calls[slot] as Call;
    part.sentCount++;
    part.client.send(slot, request, stamp);
  }

  flush(): void {
    for (const { client } of this.parts) client.flush();
  }

  cancel(slot: number, failure: Failure): void {
    const call = this.calls[slot];
    if (call !== undefined) this.parts[call.server]?.client.cancel(slot, failure);
  }

  attribute(call: Call, failure: Failure): Failure {
    // The plan asked for the cancellation; no server caused it.
    if (failure.kind === "cancelled") return failure;
    const part = this.parts[call.server] as ServerPart;
    if (!isCancelled(failure)) part.failedCount++;
    return { ...failure, server: part.name };
  }

  close(): void {
    for (const { client } of this.parts) client.close();
  }
}

/** One server, its client and its counts. */
class ServerPart {
  readonly name: string;
  readonly client: LoadClient;
  sentCount = 0;
  failedCount = 0;

  constructor({ name, createClient }: BalancedServer, options: ClientOptions) {
    this.name = name;
    this.client = createClient(options);
  }
}
