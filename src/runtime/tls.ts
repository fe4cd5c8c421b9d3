import type { PeerCertificate } from "node:tls";

/** TLS settings of a connection. Certificates and keys are PEM text. */
export interface TlsSettings {
  /** Name for SNI and the certificate check. Default: the host. */
  readonly serverName?: string | undefined;
  /** ALPN protocols, in order of preference. */
  readonly alpn: readonly string[];
  /** Certificate authorities to trust instead of the system's. */
  readonly caPem?: string | undefined;
  readonly certPem?: string | undefined;
  readonly keyPem?: string | undefined;
  /** False: accept a certificate of any signer. */
  readonly verifyPeer: boolean;
  /** False: accept a certificate for any name. */
  readonly verifyHost: boolean;
}

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
 * Checks the host name in the certificate of an open connection if the runtime does not verify the certificate. Returns undefined if the
 * name is correct, or if the runtime has checked it.
 */
export function findNameError(
  settings: Pick<TlsSettings, "verifyPeer" | "verifyHost">,
  serverName: string,
  connection: Verified,
): Error | undefined {
  if (settings.verifyPeer || !settings.verifyHost) return undefined;
  return process.getBuiltinModule("node:tls").checkServerIdentity(serverName, connection.getPeerCertificate());
}
