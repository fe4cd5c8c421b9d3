import { resolve } from "node:path";
import * as v from "valibot";
import type { OutputOf } from "../../plan/schema.ts";
import { DEFAULT_TLS, type TlsPlan } from "../../plan/tls.ts";
import { nameSchema, strictOptions } from "../fields.ts";

/** TLS of a target; also on with an `https://` address. Relative paths start at the scenario's folder. */
export interface TlsOptions {
  /** PEM file of the authorities to trust. Default: those of the runtime. */
  readonly ca?: string;
  /** File of the client's certificate. */
  readonly cert?: string;
  /** File of the certificate's private key. */
  readonly key?: string;
  /** Format of the certificate's file. Default: `"PEM"`. */
  readonly certType?: "PEM" | "DER";
  /** Format of the key's file. Default: `"PEM"`. */
  readonly keyType?: "PEM" | "DER";
  /** Check the server's certificate: who signed it (`peer`) and its name (`host`). Default: true. */
  readonly verify?: boolean | { readonly peer?: boolean; readonly host?: boolean };
}

/** Returns the schema of a target's TLS. */
export function tlsSchema() {
  const file = v.optional(nameSchema("a file"));
  const form = v.optional(v.picklist(["PEM", "DER"], 'must be "PEM" or "DER"'));
  const flag = v.optional(v.boolean("must be true or false"));
  const verify = v.union(
    [v.boolean(), strictOptions({ peer: flag, host: flag })],
    "must be true, false or { peer, host }",
  );
  return v.union(
    [
      v.boolean(),
      strictOptions({ ca: file, cert: file, key: file, certType: form, keyType: form, verify: v.optional(verify) }),
    ],
    "must be true, false or { ca, cert, key, certType, keyType, verify }",
  );
}

/** Converts TLS settings to those of a plan. @param folder base of relative paths */
export function toTlsPlan(tls: OutputOf<typeof tlsSchema> = false, folder: string): TlsPlan {
  const { ca = "", cert = "", key = "", certType, keyType, verify = true } = typeof tls === "boolean" ? {} : tls;
  const at = (file: string): string => (file === "" ? "" : resolve(folder, file));
  const { peer = true, host = true } = typeof verify === "boolean" ? { peer: verify, host: verify } : verify;
  return {
    ...DEFAULT_TLS,
    isEnabled: tls !== false,
    caFile: at(ca),
    certFile: at(cert),
    certType: certType ?? DEFAULT_TLS.certType,
    keyFile: at(key),
    keyType: keyType ?? DEFAULT_TLS.keyType,
    verifyPeer: peer,
    verifyHost: host,
  };
}
