import { createServer, type Socket } from "node:net";

/** A TCP server whose every byte the test decides. */
export interface RawServer extends AsyncDisposable {
  readonly port: number;
  /** Bytes received so far, by connection. */
  readonly received: Uint8Array[];
  readonly connections: RawConnection[];
  stop(): Promise<void>;
}

/** One accepted connection, as the test's script sees it. */
export class RawConnection {
  readonly index: number;
  readonly socket: Socket;
  bytes: Uint8Array = new Uint8Array(0);
  isClosed = false;
  private readonly waiting: (() => void)[] = [];

  constructor(index: number, socket: Socket) {
    this.index = index;
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("data", (piece: Uint8Array) => {
      const joined = new Uint8Array(this.bytes.length + piece.length);
      joined.set(this.bytes);
      joined.set(piece, this.bytes.length);
      this.bytes = joined;
      this.wake();
    });
    socket.on("close", () => {
      this.isClosed = true;
      this.wake();
    });
  }

  write(bytes: Uint8Array): void {
    if (!this.isClosed) this.socket.write(bytes);
  }

  /** Writes each piece on its own, far enough apart for the client to read them apart, most of the time. */
  async writeApart(pieces: readonly Uint8Array[]): Promise<void> {
    for (const piece of pieces) {
      this.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Resolves once `isMet` holds; rejects when the client closes before. */
  async until(isMet: (connection: RawConnection) => boolean): Promise<void> {
    while (!isMet(this)) {
      if (this.isClosed) throw new Error(`client closed after ${this.bytes.length} bytes`);
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  /** Resolves when the connection is closed. */
  async closed(): Promise<void> {
    while (!this.isClosed) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

/** Listens on a free loopback port; `script` runs for every connection, and what it throws once the client is gone is ignored. */
export function startRawServer(script: (connection: RawConnection) => void | Promise<void>): Promise<RawServer> {
  const connections: RawConnection[] = [];
  const server = createServer({ allowHalfOpen: false }, (socket) => {
    const connection = new RawConnection(connections.length, socket);
    connections.push(connection);
    Promise.resolve(script(connection)).catch((error: unknown) => {
      if (!connection.isClosed) throw error;
    });
  });
  const stop = (): Promise<void> =>
    new Promise((stopped) => {
      for (const connection of connections) connection.destroy();
      server.close(() => stopped());
    });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve({
        port: (server.address() as { port: number }).port,
        connections,
        get received() {
          return connections.map(({ bytes }) => bytes);
        },
        stop,
        [Symbol.asyncDispose]: stop,
      });
    });
  });
}
