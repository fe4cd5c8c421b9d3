import type { PeerCertificate } from "node:tls";
import type { TlsSettings } from "./socket.ts";

/** What `node:tls` is told about verifying, and what is verified besides. */

/** The part of a TLS connection that is looked at. */
interface Verified {
  getPeerCertificate(): PeerCertificate;
}

/** Options of `tls.connect`: who the peer is and what its name is are verified apart. */
export function verifyOptions({ verifyPeer, verifyHost }: Pick<TlsSettings, "verifyPeer" | "verifyHost">): {
  rejectUnauthorized: boolean;
  checkServerIdentity?: () => undefined;
} {
  return { rejectUnauthorized: verifyPeer, ...(verifyHost ? {} : { checkServerIdentity: () => undefined }) };
}

/**
 * What is wrong with the name in the certificate of an open connection, where the runtime was told not to look at the certificate at all;
 * undefined when nothing is, or when the runtime looked.
 */
export function findNameError(
  settings: Pick<TlsSettings, "verifyPeer" | "verifyHost">,
  serverName: string,
  connection: Verified,
): Error | undefined {
  if (settings.verifyPeer || !settings.verifyHost) return undefined;
  return process.getBuiltinModule("node:tls").checkServerIdentity(serverName, connection.getPeerCertificate());
}
