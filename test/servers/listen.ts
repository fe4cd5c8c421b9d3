import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Lets a server listen at a free port of this host, and returns the port. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Makes a server end with its scope, and its connections with it. */
export function closing<S extends { closeAllConnections?(): void; close(): unknown }>(server: S): S & Disposable {
  const close = (): void => {
    server.closeAllConnections?.();
    server.close();
  };
  return Object.assign(server, { [Symbol.dispose]: close });
}
