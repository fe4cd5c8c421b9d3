import { createServer, type Socket } from "node:net";

/** A server on a free port that accepts connections, counts them and never answers. */
export interface CountingServer extends AsyncDisposable {
  readonly port: number;
  connections(): number;
  stop(): Promise<void>;
}

/** Starts it. */
export async function startCountingServer(): Promise<CountingServer> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    count++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  return { port: address.port, connections: () => count, stop, [Symbol.asyncDispose]: stop };
}
