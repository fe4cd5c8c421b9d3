import type { Socket as NetSocket } from "node:net";
import type { TLSSocket } from "node:tls";
import { localOf, REFUSAL_PROBE_MS, type Socket, type SocketHandlers, type SocketTarget } from "./socket.ts";
import { findNameError, verifyOptions } from "./tls.ts";

/**
 * TCP and TLS through `node:net` and `node:tls`: plain sockets on Node, TLS sockets on every runtime. Loads the modules on first use,
 * because importing them would slow every start on Bun, which rarely needs them.
 */
export function openNodeSocket(target: SocketTarget, handlers: SocketHandlers): Socket {
  return new NodeConnection(target, handlers);
}

/** Maximum time until the first byte of the first handshake with a server. */
const FIRST_LIMIT_MS = 5000;
/**
 * The same for later handshakes with a server that has not answered one. It is shorter, because there may be many connections to
 * open.
 */
const NEXT_LIMIT_MS = 1000;

type HandshakeSocket = Pick<TLSSocket, "once" | "destroy" | "bytesRead">;

/** Closes TLS connections to servers that never answer a handshake, such as a plain HTTP server that waits for the rest of a request. */
export class HandshakeLimit {
  private readonly firstMs: number;
  private readonly nextMs: number;
  /** Servers that have completed a handshake. They are not watched again. */
  private readonly speakers = new Set<string>();
  private readonly silent = new Set<string>();

  /** @param firstMs time from connecting to the server's first byte @param nextMs the same, after a handshake without response */
  constructor(firstMs = FIRST_LIMIT_MS, nextMs = NEXT_LIMIT_MS) {
    this.firstMs = firstMs;
    this.nextMs = nextMs;
  }

  /** Destroys a connecting socket if its server sends no byte in time. @param place the server's host and port */
  watch(socket: HandshakeSocket, place: string): void {
    if (this.speakers.has(place)) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = (): void => clearTimeout(timer);
    socket.once("connect", () => {
      const limitMs = this.silent.has(place) ? this.nextMs : this.firstMs;
      timer = setTimeout(() => this.end(socket, place, limitMs), limitMs);
    });
    socket.once("secureConnect", () => {
      this.speakers.add(place);
      this.silent.delete(place);
      stop();
    });
    socket.once("close", stop);
  }

  private end(socket: HandshakeSocket, place: string, limitMs: number): void {
    if (this.speakers.has(place) || socket.bytesRead > 0) return;
    this.silent.add(place);
    socket.destroy(new Error(`TLS handshake: no response within ${limitMs / 1000} s`));
  }
}

const handshakeLimit = new HandshakeLimit();

class NodeConnection implements Socket {
  private readonly native: NetSocket;
  private readonly handlers: SocketHandlers;
  private finished = false;
  private error: Error | undefined;

  constructor(target: SocketTarget, handlers: SocketHandlers) {
    this.handlers = handlers;
    const native =
      target.tls === undefined
        ? process.getBuiltinModule("node:net").connect({
            ...{ port: target.port, host: target.host, allowHalfOpen: true },
            ...localOf(target),
          })
        : connectTls(target, target.tls);
    this.native = native;
    native.setNoDelay(true);
    native.on(target.tls === undefined ? "connect" : "secureConnect", () => {
      if (this.finished) return;
      const { tls } = target;
      const error =
        tls === undefined ? undefined : findNameError(tls, tls.serverName ?? target.host, native as TLSSocket);
      if (error === undefined) handlers.onOpen();
      else native.destroy(error);
    });
    if (target.tls !== undefined) handshakeLimit.watch(native as TLSSocket, `${target.host}:${target.port}`);
    native.on("data", (buffer: Buffer) => {
      // A plain Uint8Array, because `Buffer.slice` would share memory where `Uint8Array.slice` copies.
      if (!this.finished) handlers.onData(new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length));
    });
    native.on("drain", () => {
      if (!this.finished) handlers.onDrained?.();
    });
    native.on("error", (error: Error) => {
      this.error = error;
    });
    native.on("end", () => {
      if (target.tls === undefined && handlers.isUnanswered?.() === true)
        setTimeout(() => this.probe(), REFUSAL_PROBE_MS);
      else this.close();
    });
    native.on("close", () => this.finish(this.error));
  }

  get pendingBytes(): number {
    return this.native.writableLength;
  }

  write(bytes: Uint8Array): boolean {
    if (this.finished) return true;
    this.native.write(bytes);
    // An empty stream buffer means that the kernel accepted all bytes during the call.
    return this.native.writableLength === 0;
  }

  close(): void {
    if (this.finished) return;
    this.native.destroy();
    this.finish(undefined);
  }

  /** Writes a byte, which fails if the peer rejected earlier bytes. A peer that has closed its side ignores the byte. */
  private probe(): void {
    if (this.finished) return;
    this.native.write("\n", (error) => {
      if (error === undefined || error === null) this.close();
    });
  }

  private finish(error: Error | undefined): void {
    if (this.finished) return;
    this.finished = true;
    this.handlers.onClose(error);
  }
}

function connectTls(target: SocketTarget, settings: NonNullable<SocketTarget["tls"]>): TLSSocket {
  const serverName = settings.serverName ?? target.host;
  return process.getBuiltinModule("node:tls").connect({
    host: target.host,
    port: target.port,
    ...localOf(target),
    ALPNProtocols: [...settings.alpn],
    ...verifyOptions(settings),
    // SNI does not allow IP addresses.
    ...(process.getBuiltinModule("node:net").isIP(serverName) === 0 ? { servername: serverName } : {}),
    ...(settings.caPem === undefined ? {} : { ca: settings.caPem }),
    ...(settings.certPem === undefined ? {} : { cert: settings.certPem }),
    ...(settings.keyPem === undefined ? {} : { key: settings.keyPem }),
  });
}
