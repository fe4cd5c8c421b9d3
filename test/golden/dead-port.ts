import { once } from "node:events";
import { createServer } from "node:net";

/** A port of loopback on which nothing listens: it was free a moment ago. */
export async function findDeadPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
