import { Call } from "../call.ts";
import { type ClientOptions, type LoadClient, MOST_STATUS, type ReceivedCounts } from "../client.ts";
import { ABORTED, type Failure } from "../failure.ts";
import { openAtPace } from "../open-at-pace.ts";
import type { Endpoint, WireRequest } from "../request.ts";
import { StallWatch } from "../stall-watch.ts";
import { Connection, type ConnectionContext } from "./connection.ts";
import { createServerReuse } from "./connection-reuse.ts";
import { encodeHttp1, type Http1Message } from "./encode.ts";

/** Rampart's HTTP/1.1 client: one keep-alive connection per slot, without pipelining. */
export class Http1Client implements LoadClient {
  readonly calls: Call[] = [];
  private readonly endpoint: Endpoint;
  private readonly connections: Connection[] = [];
  private readonly encoded = new Map<WireRequest, Http1Message>();
  private readonly stallWatch: StallWatch;
  private readonly context: ConnectionContext;
  private isClosed = false;
  readonly received: ReceivedCounts = { bytes: 0, statusCounts: new Uint32Array(MOST_STATUS + 1), unaskedCount: 0 };

  /** @param reuse knowledge about the server's connections, including from other clients; default: none */
  constructor(endpoint: Endpoint, options: ClientOptions, reuse = createServerReuse()) {
    this.endpoint = endpoint;
    this.context = { endpoint, options, reuse, counts: this.received };
    this.stallWatch = new StallWatch(options.stallTimeoutNs, (deadlineNs) => {
      for (const connection of this.connections) connection.failIfSilentSince(deadlineNs);
    });
  }

  get connectionCount(): number {
    let count = 0;
    for (const { openedCount } of this.connections) count += openedCount;
    return count;
  }

  get resendCount(): number {
    let count = 0;
    for (const { resendCount } of this.connections) count += resendCount;
    return count;
  }

  async reserve(count: number): Promise<void> {
    const added: Connection[] = [];
    while (this.connections.length < count) {
      const call = new Call(this.connections.length);
      const connection = new Connection(call, this.context);
      this.calls.push(call);
      this.connections.push(connection);
      added.push(connection);
    }
    this.stallWatch.start();
    await openAtPace(added, {
      open: (connection) => connection.preconnect(),
      isClosed: () => this.isClosed,
      perSec: this.context.options.connectionsPerSec,
    });
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    this.context.options.onRequest?.(request, stamp);
    let message = this.encoded.get(request);
    if (message === undefined) {
      message = encodeHttp1(request, this.endpoint);
      if (request.isOnce !== true) this.encoded.set(request, message);
    }
    (this.connections[slot] as Connection).send(message, stamp);
  }

  /** Does nothing: a connection carries one request, which `send` writes immediately. */
  flush(): void {}

  cancel(slot: number, failure: Failure): void {
    if (this.calls[slot]?.isActive === true) (this.connections[slot] as Connection).abort(failure);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.stallWatch.stop();
    for (const connection of this.connections) connection.abort(ABORTED);
  }
}
