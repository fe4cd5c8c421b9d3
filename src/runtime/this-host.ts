import { once } from "node:events";
import { createServer, isIPv6 } from "node:net";
import { hostname, networkInterfaces } from "node:os";

const LOOPBACK = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|::1|0\.0\.0\.0|::)$/i;

/**
 * Whether a host (a name, or an address without brackets) is this machine: loopback, its own name, or an address of one of its network
 * interfaces. Does not resolve other names; they count as other machines.
 */
export function isThisHost(host: string): boolean {
  if (LOOPBACK.test(host) || host.toLowerCase() === hostname().toLowerCase()) return true;
  const address = isIPv6(host) ? host.toLowerCase() : host;
  return Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === address) === true);
}

/** Whether connections of this host can come from an IP address. */
export async function isOwnAddress(address: string): Promise<boolean> {
  // It would mean any address.
  if (/^(?:0\.0\.0\.0|[0:]+)$/.test(address)) return false;
  const server = createServer();
  try {
    // A port of its own, for a moment: the interfaces do not list every address, such as 127.0.0.2.
    server.listen({ host: address, port: 0 });
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
