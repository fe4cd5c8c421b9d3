import { localOf, REFUSAL_WAIT_MS, type Socket, type SocketHandlers, type SocketTarget } from "./socket.ts";

/** The part of Bun's TCP socket that is used. */
interface BunSocket {
  data: BunConnection;
  write(bytes: Uint8Array): number;
  end(): void;
  terminate(): void;
}

interface BunConnectApi {
  connect(options: {
    hostname: string;
    port: number;
    localAddress?: string;
    localPort?: number;
    data: BunConnection;
    allowHalfOpen: boolean;
    socket: Record<string, unknown>;
  }): Promise<BunSocket>;
}

/** Plain TCP through `Bun.connect`, the fastest API on Bun: one native callback per readable event. It sets TCP_NODELAY itself. */
export function openBunSocket(target: SocketTarget, handlers: SocketHandlers): Socket {
  const connection = new BunConnection(handlers);
  // Immediately, not in a microtask, so that a caller that opens many connections in a row sees how long that takes.
  void connect(connection, target);
  connection.isStarting = false;
  return connection;
}

async function connect(connection: BunConnection, target: SocketTarget): Promise<void> {
  const { Bun } = globalThis as typeof globalThis & { Bun: BunConnectApi };
  try {
    const options = { hostname: target.host, port: target.port, data: connection, allowHalfOpen: true };
    await Bun.connect({ ...options, ...localOf(target), socket: nativeHandlers });
  } catch (error) {
    connection.finish(error instanceof Error ? error : new Error(String(error)));
  }
}

class BunConnection implements Socket {
  native: BunSocket | undefined;
  /**
   * Bun reports some failures, such as too many open files, before `connect` returns, when the caller does not yet have the socket.
   */
  isStarting = true;
  readonly handlers: SocketHandlers;
  private readonly queue: Uint8Array[] = [];
  private queuedBytes = 0;
  private finished = false;

  constructor(handlers: SocketHandlers) {
    this.handlers = handlers;
  }

  get pendingBytes(): number {
    return this.queuedBytes;
  }

  /** Copies only the bytes that the kernel did not accept: copying all bytes would be expensive for a tensor of 1 MiB. */
  write(bytes: Uint8Array): boolean {
    if (this.finished) return true;
    if (this.native === undefined || this.queue.length > 0) return this.keep(bytes);
    const written = Math.max(0, this.native.write(bytes));
    return written === bytes.length || this.keep(bytes.subarray(written));
  }

  close(): void {
    if (this.finished) return;
    if (this.native === undefined) {
      this.finish(undefined);
      return;
    }
    this.native.end();
    this.finish(undefined);
  }

  /** Writes the bytes that the kernel did not accept earlier. */
  drain(): void {
    if (this.queue.length === 0) return;
    while (this.native !== undefined && this.queue.length > 0) {
      const head = this.queue[0] as Uint8Array;
      const written = Math.max(0, this.native.write(head));
      this.queuedBytes -= written;
      if (written < head.length) {
        this.queue[0] = head.subarray(written);
        return;
      }
      this.queue.shift();
    }
    if (this.queue.length === 0) this.handlers.onDrained?.();
  }

  opened(native: BunSocket): void {
    if (this.finished) {
      native.terminate();
      return;
    }
    this.native = native;
    this.handlers.onOpen();
    this.drain();
  }

  received(bytes: Uint8Array): void {
    if (!this.finished) this.handlers.onData(bytes);
  }

  /** The peer closed its side. A client cannot use the connection any more. */
  ended(): void {
    if (this.finished || this.handlers.isUnanswered?.() !== true) this.close();
    // A rejection closes the connection with an error.
    else setTimeout(() => this.close(), REFUSAL_WAIT_MS);
  }

  finish(error: Error | undefined): void {
    if (this.finished) return;
    if (this.isStarting) {
      queueMicrotask(() => this.finish(error));
      return;
    }
    this.finished = true;
    this.queue.length = 0;
    this.queuedBytes = 0;
    this.handlers.onClose(error);
  }

  private keep(bytes: Uint8Array): false {
    this.queue.push(bytes);
    this.queuedBytes += bytes.length;
    return false;
  }
}

const nativeHandlers = {
  binaryType: "uint8array",
  open: (socket: BunSocket) => socket.data.opened(socket),
  data: (socket: BunSocket, bytes: Uint8Array) => socket.data.received(bytes),
  drain: (socket: BunSocket) => socket.data.drain(),
  end: (socket: BunSocket) => socket.data.ended(),
  close: (socket: BunSocket, error?: Error) => socket.data.finish(error instanceof Error ? error : undefined),
  error: (socket: BunSocket, error: Error) => socket.data.finish(error),
  connectError: (socket: BunSocket, error: Error) => socket.data.finish(error),
};
