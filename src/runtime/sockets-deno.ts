import { REFUSAL_PROBE_MS, type Socket, type SocketHandlers, type SocketTarget } from "./socket.ts";

/** The part of Deno's TCP connection that is used. */
interface DenoConn {
  read(buffer: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  setNoDelay(noDelay: boolean): void;
  close(): void;
}

interface DenoConnectApi {
  connect(options: { hostname: string; port: number }): Promise<DenoConn>;
}

/**
 * 64 KiB, the usual size of a read on loopback, for connections that have filled the first buffer. Idle connections, of which there may be
 * thousands, keep the small one.
 */
const READ_BUFFER_BYTES = 64 * 1024;
const FIRST_BUFFER_BYTES = 4 * 1024;

/** Plain TCP through `Deno.connect`: Deno's `node:net` delivers the data of a connection in bursts. */
export function openDenoSocket(target: SocketTarget, handlers: SocketHandlers): Socket {
  return new DenoConnection(target, handlers);
}

class DenoConnection implements Socket {
  private readonly handlers: SocketHandlers;
  private readonly queue: Uint8Array[] = [];
  private native: DenoConn | undefined;
  private queuedBytes = 0;
  private writing = false;
  private finished = false;

  constructor(target: SocketTarget, handlers: SocketHandlers) {
    this.handlers = handlers;
    const { Deno } = globalThis as typeof globalThis & { Deno: DenoConnectApi };
    Deno.connect({ hostname: target.host, port: target.port }).then(
      (native) => this.opened(native),
      (error: unknown) => this.finish(toError(error)),
    );
  }

  get pendingBytes(): number {
    return this.queuedBytes;
  }

  /** Deno writes asynchronously and refers to the bytes until the write ends. */
  write(bytes: Uint8Array): boolean {
    if (this.finished) return true;
    this.queuedBytes += bytes.length;
    this.queue.push(bytes);
    if (!this.writing && this.native !== undefined) void this.writeAll(this.native);
    return false;
  }

  close(): void {
    this.finish(undefined);
  }

  private async writeAll(native: DenoConn): Promise<void> {
    this.writing = true;
    try {
      for (let bytes = this.queue.shift(); bytes !== undefined; bytes = this.queue.shift()) {
        let offset = 0;
        let writes = 0;
        while (offset < bytes.length) {
          const written = await native.write(offset === 0 ? bytes : bytes.subarray(offset));
          offset += written;
          writes++;
          this.queuedBytes -= written;
        }
        // A single write that the kernel accepts at once needs no callback.
        if (writes > 1 && !this.finished) this.handlers.onDrained?.();
      }
    } catch (error) {
      this.finish(toError(error));
    }
    this.writing = false;
  }

  private opened(native: DenoConn): void {
    if (this.finished) {
      native.close();
      return;
    }
    this.native = native;
    native.setNoDelay(true);
    this.handlers.onOpen();
    if (!this.writing && this.queue.length > 0) void this.writeAll(native);
    void this.readAll(native);
  }

  private async readAll(native: DenoConn): Promise<void> {
    let buffer = new Uint8Array(FIRST_BUFFER_BYTES);
    try {
      for (let size = await native.read(buffer); size !== null; size = await native.read(buffer)) {
        if (this.finished) return;
        this.handlers.onData(buffer.subarray(0, size));
        if (size === buffer.length && size < READ_BUFFER_BYTES) buffer = new Uint8Array(READ_BUFFER_BYTES);
      }
      if (this.handlers.isUnanswered?.() === true) await this.probe(native);
      this.finish(undefined);
    } catch (error) {
      this.finish(toError(error));
    }
  }

  /** Writes a byte, which throws if the peer rejected earlier bytes. A peer that has closed its side ignores the byte. */
  private async probe(native: DenoConn): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, REFUSAL_PROBE_MS));
    if (!this.finished) await native.write(new Uint8Array([10]));
  }

  private finish(error: Error | undefined): void {
    if (this.finished) return;
    this.finished = true;
    this.queue.length = 0;
    this.queuedBytes = 0;
    try {
      this.native?.close();
    } catch {
      // The runtime has already closed it.
    }
    this.handlers.onClose(error);
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
