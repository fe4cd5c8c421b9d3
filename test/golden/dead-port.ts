import { findFreePorts } from "../servers/free-ports.ts";

/** A port of loopback on which nothing listens. */
export async function findDeadPort(): Promise<number> {
  const [port] = await findFreePorts(1);
  return port;
}
