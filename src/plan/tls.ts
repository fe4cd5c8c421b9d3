import * as v from "valibot";
import type { PlanOf } from "./schema.ts";

/** How connections are made secure. */
export function tlsSchema() {
  const fileType = v.picklist(["PEM", "DER"], "must be PEM or DER");
  return v.object({
    /** For gRPC; URLs with `https://` always use TLS. */
    isEnabled: v.boolean(),
    /** PEM file of certificate authorities to trust instead of the system's. */
    caFile: v.string(),
    /** Client certificate; a PEM file may contain the chain. */
    certFile: v.string(),
    certType: fileType,
    keyFile: v.string(),
    keyType: fileType,
    /** False: accept a certificate from any signer. */
    verifyPeer: v.boolean(),
    /** False: accept a certificate for any name. */
    verifyHost: v.boolean(),
  });
}

/** TLS settings, used for `https://` URLs, and for gRPC if `isEnabled`. */
export type TlsPlan = PlanOf<typeof tlsSchema>;

/** TLS defaults: only for `https://`, with the system's authorities, and everything verified. */
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
