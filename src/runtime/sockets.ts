import { runtimeName } from "./runtime.ts";
import type { OpenSocket, Socket, SocketHandlers, SocketTarget } from "./socket.ts";

const openPlain: OpenSocket = await loadPlain();

/** Opens a TCP or TLS connection with this runtime's fastest sockets. */
export function openSocket(target: SocketTarget, handlers: SocketHandlers): Socket {
  return target.tls === undefined ? openPlain(target, handlers) : openTls(target, handlers);
}

async function loadPlain(): Promise<OpenSocket> {
  if (runtimeName === "bun") return (await import("./sockets-bun.ts")).openBunSocket;
  if (runtimeName === "deno") return (await import("./sockets-deno.ts")).openDenoSocket;
  return (await import("./sockets-node.ts")).openNodeSocket;
}

/** TLS needs settings that only `node:tls` offers alike on all three; it is loaded when the first TLS connection opens. */
function openTls(target: SocketTarget, handlers: SocketHandlers): Socket {
  const opening = new LateSocket();
  import("./sockets-node.ts").then(
    ({ openNodeSocket }) => opening.become(target, handlers, openNodeSocket),
    (error: unknown) => handlers.onClose(error instanceof Error ? error : new Error(String(error))),
  );
  return opening;
}

/** Stands in for a socket whose implementation is still loading. */
class LateSocket implements Socket {
  #real: Socket | undefined;
  #closed = false;
  readonly #early: Uint8Array[] = [];

  get pendingBytes(): number {
    return this.#real?.pendingBytes ?? this.#early.reduce((sum, bytes) => sum + bytes.length, 0);
  }

  write(bytes: Uint8Array): boolean {
    if (this.#real !== undefined) return this.#real.write(bytes);
    this.#early.push(bytes.slice());
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#real?.close();
  }

  become(target: SocketTarget, handlers: SocketHandlers, open: OpenSocket): void {
    if (this.#closed) {
      handlers.onClose(undefined);
      return;
    }
    this.#real = open(target, handlers);
    for (const bytes of this.#early) this.#real.write(bytes);
  }
}
