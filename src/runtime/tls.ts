import type { PeerCertificate } from "node:tls";
import type { TlsSettings } from "./socket.ts";

/** The part of a TLS connection that is checked. */
interface Verified {
  getPeerCertificate(): PeerCertificate;
}

/** Returns options of `tls.connect` that verify the signer and the host name independently. */
export function verifyOptions({ verifyPeer, verifyHost }: Pick<TlsSettings, "verifyPeer" | "verifyHost">): {
  rejectUnauthorized: boolean;
  checkServerIdentity?: () => undefined;
} {
  return { rejectUnauthorized: verifyPeer, ...(verifyHost ? {} : { checkServerIdentity: () => undefined }) };
}

/**
 * Checks the host name in the certificate of an open connection when the runtime does not verify the certificate. Returns undefined when
 * the name is correct, or when the runtime has checked it.
 */
export function findNameError(
  settings: Pick<TlsSettings, "verifyPeer" | "verifyHost">,
  serverName: string,
  connection: Verified,
): Error | undefined {
  if (settings.verifyPeer || !settings.verifyHost) return undefined;
  return process.getBuiltinModule("node:tls").checkServerIdentity(serverName, connection.getPeerCertificate());
}
