import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that Linux gives to connections and to servers that take any port. */
const FIRST = 10_000;
const END = 32_000;

/**
 * Gives ports of loopback on which nothing listens, and on which nothing will by chance: for servers that must be given one, and where nothing is
 * to answer.
 */
export async function findFreePorts<const N extends number>(
  count: N,
): Promise<N extends 1 ? [number] : N extends 2 ? [number, number] : [number, number, number]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports] as Awaited<ReturnType<typeof findFreePorts<N>>>;
}

/** Whether a server can listen there. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
