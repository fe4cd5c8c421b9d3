import { runtimeName } from "./runtime.ts";
import type { OpenSocket, Socket, SocketHandlers, SocketTarget } from "./socket.ts";
import { openBunSocket } from "./sockets-bun.ts";
import { openDenoSocket } from "./sockets-deno.ts";
import { openNodeSocket } from "./sockets-node.ts";

const openPlain: OpenSocket = { bun: openBunSocket, deno: openDenoSocket, node: openNodeSocket }[runtimeName];

/** Opens a TCP or TLS connection with this runtime's fastest sockets. TLS needs settings that only `node:tls` offers alike on all three. */
export function openSocket(target: SocketTarget, handlers: SocketHandlers): Socket {
  return target.tls === undefined ? openPlain(target, handlers) : openNodeSocket(target, handlers);
}
