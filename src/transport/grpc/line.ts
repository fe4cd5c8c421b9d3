import type { Failure } from "../failure.ts";
import { Http2Connection } from "../http2/connection.ts";
import { RepeatedHeaders } from "../http2/hpack.ts";
import type { Endpoint } from "../request.ts";
import { USER_AGENT } from "../user-agent.ts";
import { grpcHeaders } from "./encode.ts";

/** Something that opens one stream at a time on a line. */
export interface LineUser {
  /** The method's path. */
  readonly path: string;
  /** Opens the stream with this header block on this connection. */
  open(connection: Http2Connection, block: Uint8Array): void;
}

/** One of the client's connections, replaced by a new one when it becomes unusable. */
export class Line {
  connectionCount = 0;
  /** Requests sent again so far, each time counted. */
  resendCount = 0;
  private readonly endpoint: Endpoint;
  private headers: RepeatedHeaders | undefined;
  private headersPath = "";
  private connection: Http2Connection | undefined;
  private isFlushDue = false;
  /** Connections the server is taking down, whose streams go on to their end. */
  private readonly leaving = new Set<Http2Connection>();
  /** Users whose call waits for room under the peer's limit of concurrent streams. */
  private readonly waiting: LineUser[] = [];

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
  }

  connect(): Http2Connection {
    this.connectionCount++;
    this.headers = undefined;
    const connection = new Http2Connection(this.endpoint, {
      onUnusable: () => this.replace(connection),
      onCapacity: () => {
        this.admit();
        if (connection.streamCount > 0 || !this.leaving.delete(connection)) return;
        connection.close({ kind: "closed", message: "server is going away" });
      },
    });
    this.connection = connection;
    return connection;
  }

  /** Opens a stream for the user now, or as soon as the peer allows one more. */
  begin(user: LineUser): void {
    const connection = this.connection ?? this.connect();
    if (connection.hasCapacity) this.openStream(connection, user);
    else this.waiting.push(user);
  }

  forget(user: LineUser): void {
    const index = this.waiting.indexOf(user);
    if (index >= 0) this.waiting.splice(index, 1);
  }

  flush(): void {
    this.connection?.flush();
    if (this.leaving.size === 0) return;
    for (const connection of this.leaving) {
      if (connection.hasEnded) this.leaving.delete(connection);
      else connection.flush();
    }
  }

  failIfUnanswered(deadlineNs: number, failure: Failure): void {
    this.connection?.failIfUnanswered(deadlineNs, failure);
  }

  close(failure: Failure): void {
    this.waiting.length = 0;
    this.connection?.close(failure);
    this.connection = undefined;
    for (const connection of this.leaving) connection.close(failure);
    this.leaving.clear();
  }

  private replace(connection: Http2Connection): void {
    if (connection.hasEnded) this.leaving.delete(connection);
    else this.leaving.add(connection);
    if (this.connection !== connection) return;
    this.connection = undefined;
    if (this.waiting.length === 0) return;
    // The room they wait for will never come: they go over the next connection at once, and fail with it should it fail.
    this.connect();
    this.admit();
  }

  private admit(): void {
    const connection = this.connection;
    while (connection?.hasCapacity === true) {
      const user = this.waiting.shift();
      if (user === undefined) return;
      this.openStream(connection, user);
    }
  }

  private openStream(connection: Http2Connection, user: LineUser): void {
    if (this.headers === undefined || this.headersPath !== user.path) {
      const list = grpcHeaders(this.endpoint, user.path, USER_AGENT);
      this.headers = new RepeatedHeaders(list, this.headers?.signalledBytes);
      this.headersPath = user.path;
    }
    user.open(connection, this.headers.nextBlock(connection.peerTableBytes));
    if (!connection.isReading) this.flushSoon();
  }

  /** An answer over a connection that is leaving may open a stream on its successor, which then nobody else flushes. */
  private flushSoon(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    queueMicrotask(() => {
      this.isFlushDue = false;
      this.flush();
    });
  }
}
