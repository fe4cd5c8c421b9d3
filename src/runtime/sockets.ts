import { runtimeName } from "./runtime.ts";
import type { OpenSocket, Socket, SocketHandlers, SocketTarget } from "./socket.ts";
import { openBunSocket } from "./sockets-bun.ts";
import { openDenoSocket } from "./sockets-deno.ts";
import { openNodeSocket } from "./sockets-node.ts";

const openPlain: OpenSocket = { bun: openBunSocket, deno: openDenoSocket, node: openNodeSocket }[runtimeName];

/**
 * Opens a connection with this runtime's fastest API, unless the target has its own function. TLS uses `node:tls`, the only API with all
 * settings on every runtime.
 */
export function openSocket(target: SocketTarget, handlers: SocketHandlers): Socket {
  if (target.open !== undefined) return target.open(target, handlers);
  // `Deno.connect` does not support source addresses.
  const isNodes = target.tls !== undefined || (target.localAddress !== undefined && runtimeName === "deno");
  return isNodes ? openNodeSocket(target, handlers) : openPlain(target, handlers);
}
