// The package itself: Bun replaces a bare `undici` import by its own stub.

import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { buildConnector, Client } from "undici/index.js";
import { defined } from "../../plan/objects.ts";
import { nsToMs } from "../../plan/units.ts";
import type { TlsSettings } from "../../runtime/tls.ts";
import { findNameError, verifyOptions } from "../../runtime/tls.ts";
import type { ClientOptions } from "../client.ts";
import type { Endpoint } from "../request.ts";

/** Creates undici's client of one slot. @param onConnected called with the socket of each connection */
export function createUndici(
  endpoint: Endpoint,
  options: ClientOptions,
  onConnected: (socket: Socket) => void,
): Client {
  const { tls } = endpoint;
  const scheme = tls === undefined ? "http" : "https";
  const host = endpoint.host.includes(":") ? `[${endpoint.host}]` : endpoint.host;
  const timeoutMs = Math.max(1, nsToMs(options.stallTimeoutNs));
  const connect =
    tls === undefined ? buildConnector({ timeout: timeoutMs }) : connectTls(tls, endpoint.host, timeoutMs);
  const source = endpoint.sources?.next(endpoint.host);
  return new Client(`${scheme}://${host}:${endpoint.port}`, {
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: 60_000,
    ...(source === undefined ? {} : { localAddress: source.address }),
    connect: (target, callback) =>
      connect(target, (...result) => {
        if (result[0] === null) onConnected(result[1]);
        callback(...result);
      }),
  });
}

function connectTls(tls: TlsSettings, host: string, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    ...verifyOptions(tls),
    ALPNProtocols: [...tls.alpn],
    ...defined({ ca: tls.caPem, cert: tls.certPem, key: tls.keyPem, servername: tls.serverName }),
  });
  return (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      const nameError = findNameError(tls, tls.serverName ?? host, socket as TLSSocket);
      if (nameError === undefined) callback(null, socket);
      else {
        socket.destroy();
        callback(nameError, null);
      }
    });
  };
}
