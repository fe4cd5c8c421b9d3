import { once } from "node:events";
import { createServer, isIPv6 } from "node:net";
import { hostname, networkInterfaces } from "node:os";

const LOOPBACK = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|::1|0\.0\.0\.0|::)$/i;

/**
 * Whether a host (a name, or an address without brackets) is this machine: loopback, its own name, or an address of one of its network
 * interfaces. Does not resolve other names, which count as other machines.
 */
export function isThisHost(host: string): boolean {
  if (LOOPBACK.test(host) || host.toLowerCase() === hostname().toLowerCase()) return true;
  const address = isIPv6(host) ? host.toLowerCase() : host;
  return Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === address) === true);
}

/** Whether an IP address can be the source of connections from this host. */
export async function isOwnAddress(address: string): Promise<boolean> {
  // These mean any address.
  if (/^(?:0\.0\.0\.0|[0:]+)$/.test(address)) return false;
  const server = createServer();
  try {
    // Listens on a free port for a moment, because the interfaces do not list every address, such as 127.0.0.2.
    server.listen({ host: address, port: 0 });
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
