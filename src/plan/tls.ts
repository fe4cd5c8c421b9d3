import * as v from "valibot";
import type { PlanOf } from "./schema.ts";

/** Returns the schema of TLS settings. */
export function tlsSchema() {
  const fileType = v.picklist(["PEM", "DER"], "must be PEM or DER");
  return v.object({
    /** For gRPC; `https://` URLs always use TLS. */
    isEnabled: v.boolean(),
    /** PEM file of certificate authorities to trust instead of the system's. */
    caFile: v.string(),
    /** Client certificate; a PEM file may contain the chain. */
    certFile: v.string(),
    certType: fileType,
    keyFile: v.string(),
    keyType: fileType,
    /** False: accepts a certificate from any signer. */
    verifyPeer: v.boolean(),
    /** False: accepts a certificate for any name. */
    verifyHost: v.boolean(),
  });
}

/** TLS settings, used for `https://` URLs, and for gRPC if `isEnabled`. */
export type TlsPlan = PlanOf<typeof tlsSchema>;

/** TLS defaults: only for `https://`, with the system's authorities, and full verification. */
export const DEFAULT_TLS: TlsPlan = {
  isEnabled: false,
  caFile: "",
  certFile: "",
  certType: "PEM",
  keyFile: "",
  keyType: "PEM",
  verifyPeer: true,
  verifyHost: true,
};
