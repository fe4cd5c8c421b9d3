import type { TLSSocket } from "node:tls";

/** Ends TLS connections to servers that never answer a handshake: a plain server may wait for ever for the rest of what it takes for a request. */

/** A server that speaks TLS has sent a byte of its handshake by then. */
const FIRST_LIMIT_MS = 5000;
/** Once a server has kept silent its next handshakes have less time: there may be many connections to make. */
const NEXT_LIMIT_MS = 1000;

type HandshakeSocket = Pick<TLSSocket, "once" | "destroy" | "bytesRead">;

/** Watches the handshakes of this process. */
export class HandshakeLimit {
  private readonly firstMs: number;
  private readonly nextMs: number;
  /** Servers that have spoken TLS: they are slow at times, but no plain servers. */
  private readonly speakers = new Set<string>();
  private readonly silent = new Set<string>();

  /** Times to the server's first byte after the connection was made, in milliseconds. */
  constructor(firstMs = FIRST_LIMIT_MS, nextMs = NEXT_LIMIT_MS) {
    this.firstMs = firstMs;
    this.nextMs = nextMs;
  }

  /** Destroys a socket that is being connected when its server keeps silent. @param place the server's host and port */
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
    socket.destroy(new Error(`TLS handshake: no answer within ${limitMs / 1000} s`));
  }
}
