import type { TLSSocket } from "node:tls";

/** Time for the first byte of the first handshake with a server. */
const FIRST_LIMIT_MS = 5000;
/** Time for later handshakes with a server that has not answered one; shorter, because there may be many connections to open. */
const NEXT_LIMIT_MS = 1000;

type HandshakeSocket = Pick<TLSSocket, "once" | "destroy" | "bytesRead">;

/** Closes TLS connections to servers that never answer a handshake, such as a plain HTTP server that waits for the rest of a request. */
export class HandshakeLimit {
  private readonly firstMs: number;
  private readonly nextMs: number;
  /** Servers that have completed a handshake, which are not watched again. */
  private readonly speakers = new Set<string>();
  private readonly silent = new Set<string>();

  /** @param firstMs time from connecting to the server's first byte @param nextMs the same, after a handshake without answer */
  constructor(firstMs = FIRST_LIMIT_MS, nextMs = NEXT_LIMIT_MS) {
    this.firstMs = firstMs;
    this.nextMs = nextMs;
  }

  /** Destroys a connecting socket when its server sends no byte in time. @param place the server's host and port */
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
