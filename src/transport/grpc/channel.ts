import type { Call } from "../call.ts";
import type { Failure } from "../failure.ts";
import { Http2Connection } from "../http2/connection.ts";
import { encodeLiterally, RepeatedHeaders } from "../http2/hpack.ts";
import type { Endpoint, Header } from "../request.ts";
import { grpcHeaders } from "./encode.ts";

/** Opens one stream at a time on a channel. */
export interface ChannelUser {
  /** The path of the gRPC method. */
  readonly path: string;
  /** Headers of this call, in addition to the client's. A list that is passed again is encoded only once. */
  readonly headers: readonly Header[];
  /** Opens the stream on this connection with this header block. */
  open(connection: Http2Connection, block: Uint8Array): void;
}

/** Header blocks that do not depend on a connection. */
const literalBlocks = new WeakMap<readonly Header[], Uint8Array>();

const MAX_RESENDS = 2;

/** A connection that is replaced when it becomes unusable. */
export class Channel {
  connectionCount = 0;
  /** Number of requests that were sent again. */
  resendCount = 0;
  private readonly endpoint: Endpoint;
  private headers: RepeatedHeaders | undefined;
  private headersPath = "";
  private connection: Http2Connection | undefined;
  private isFlushDue = false;
  /** Connections that the server is closing, until their streams end. */
  private readonly draining = new Set<Http2Connection>();
  /** Users that wait until the peer's limit of concurrent streams allows another stream. */
  private readonly waiting = new Set<ChannelUser>();

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
  }

  /** Opens the connection, unless a stream has already started to open it. Resolves when it is ready or has failed. */
  open(): Promise<void> {
    return (this.connection ?? this.connect()).ready;
  }

  connect(): Http2Connection {
    this.headers = undefined;
    const connection = new Http2Connection(this.endpoint, {
      onOpen: () => {
        this.connectionCount++;
      },
      onUnusable: () => this.replace(connection),
      onCapacity: () => {
        if (connection.isReading) this.openWaiting();
        else this.flushSoon();
        if (connection.streamCount > 0 || !this.draining.delete(connection)) return;
        connection.close({ kind: "closed", message: "server is going away" });
      },
    });
    this.connection = connection;
    return connection;
  }

  /** Opens a stream for the user now, or as soon as the peer allows another stream. */
  begin(user: ChannelUser): void {
    const connection = this.connection ?? this.connect();
    // After a cancelled call there is capacity until `flushSoon`, which is for the waiting users first.
    if (connection.hasCapacity && this.waiting.size === 0) this.openStream(connection, user);
    else this.waiting.add(user);
  }

  /**
   * Whether a call that the server did not process may be sent again; it is counted then. Resending such a call cannot run it
   * twice.
   */
  mayResend(call: Call): boolean {
    if (call.resends === MAX_RESENDS) return false;
    if (call.resends === 0) this.resendCount++;
    call.resends++;
    return true;
  }

  forget(user: ChannelUser): void {
    this.waiting.delete(user);
  }

  flush(): void {
    this.connection?.flush();
    if (this.draining.size === 0) return;
    for (const connection of this.draining) {
      if (connection.hasEnded) this.draining.delete(connection);
      else connection.flush();
    }
  }

  /**
   * In a microtask, opens streams that now fit the limit, and flushes: once for a group of cancelled calls, and without opening streams
   * for calls that the group cancels too. Also used for a response on a draining connection, which may open a stream on its successor.
   */
  flushSoon(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    queueMicrotask(() => {
      this.openWaiting();
      this.isFlushDue = false;
      this.flush();
    });
  }

  failIfUnanswered(deadlineNs: number, failure: Failure): void {
    this.connection?.failIfUnanswered(deadlineNs, failure);
  }

  close(failure: Failure): void {
    this.waiting.clear();
    this.connection?.close(failure);
    this.connection = undefined;
    for (const connection of this.draining) connection.close(failure);
    this.draining.clear();
  }

  private replace(connection: Http2Connection): void {
    if (connection.hasEnded) this.draining.delete(connection);
    else this.draining.add(connection);
    if (this.connection !== connection) return;
    this.connection = undefined;
    if (this.waiting.size === 0) return;
    // This connection will never have capacity for the waiting users, so they use the next one, and fail if it fails.
    this.connect();
    this.openWaiting();
  }

  private openWaiting(): void {
    const connection = this.connection;
    for (const user of this.waiting) {
      if (connection?.hasCapacity !== true) return;
      this.waiting.delete(user);
      this.openStream(connection, user);
    }
  }

  private openStream(connection: Http2Connection, user: ChannelUser): void {
    if (this.headers === undefined || this.headersPath !== user.path) {
      const list = grpcHeaders(this.endpoint, user.path);
      this.headers = new RepeatedHeaders(list, this.headers?.signalledBytes);
      this.headersPath = user.path;
    }
    const block = this.headers.nextBlock(connection.frames.peerTableBytes);
    user.open(connection, user.headers.length === 0 ? block : withHeaders(block, user.headers));
    if (!connection.isReading) this.flushSoon();
  }
}

/** Returns the block with more headers, which do not use the dynamic table. */
function withHeaders(block: Uint8Array, headers: readonly Header[]): Uint8Array {
  let more = literalBlocks.get(headers);
  if (more === undefined) {
    more = encodeLiterally(headers.map(([name, value]) => [name.toLowerCase(), value]));
    literalBlocks.set(headers, more);
  }
  const joined = new Uint8Array(block.length + more.length);
  joined.set(block);
  joined.set(more, block.length);
  return joined;
}
