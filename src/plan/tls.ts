import type { TlsPlan } from "./plan.ts";

/** TLS as it is when nothing is said of it: only for `https://`, the system's authorities, everything verified. */
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
