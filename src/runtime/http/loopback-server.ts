import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A small HTTP server for programs on this host. It never keeps the process alive. */

const HOST = "127.0.0.1";
const REQUEST_MS = 5000;
const MOST_CONNECTIONS = 32;

export type LoopbackRequest = IncomingMessage;
export type LoopbackResponse = ServerResponse;

/** A listening server. */
export interface LoopbackServer {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  readonly port: number;
  /** Closes all connections immediately. */
  close(): void;
}

/** Starts a server. @param port 0: a free port. @throws the system's error */
export async function openLoopbackServer(
  port: number,
  answer: (request: LoopbackRequest, response: LoopbackResponse) => void,
): Promise<LoopbackServer> {
  const server = createServer({ requestTimeout: REQUEST_MS, keepAliveTimeout: REQUEST_MS }, answer);
  server.maxConnections = MOST_CONNECTIONS;
  await listen(server, port);
  server.on("error", () => {});
  server.unref();
  const { port: used } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `${HOST}:${used}`, port: used, close };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, resolve);
  });
}
