import type { TlsPlan } from "./plan.ts";

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
