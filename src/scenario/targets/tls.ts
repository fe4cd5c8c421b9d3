import { resolve } from "node:path";
import * as v from "valibot";
import { flagSchema, type OutputOf } from "../../plan/schema.ts";
import { DEFAULT_TLS, type TlsPlan } from "../../plan/tls.ts";
import { nameSchema, strictOptions } from "../fields.ts";
import { type FieldsFor, inner, landed, landing, schemasOf } from "./target-field.ts";

/** TLS of a target; also used with an `https://` address. Relative paths start at the scenario's folder. */
export interface TlsOptions {
  /** PEM file with the authorities to trust. Default: those of the runtime. */
  readonly ca?: string;
  /** File of the client's certificate. */
  readonly cert?: string;
  /** File of the certificate's private key. */
  readonly key?: string;
  /** Format of the certificate's file. Default: `"PEM"`. */
  readonly certType?: "PEM" | "DER";
  /** Format of the key's file. Default: `"PEM"`. */
  readonly keyType?: "PEM" | "DER";
  /** Checks of the server's certificate: its signer (`peer`) and its name (`host`). Default: true. */
  readonly verify?: boolean | { readonly peer?: boolean; readonly host?: boolean };
}

function tlsFields() {
  const file = v.optional(nameSchema("a file"));
  const type = v.optional(v.picklist(["PEM", "DER"], 'must be "PEM" or "DER"'));
  const flag = v.optional(flagSchema());
  const verify = v.union(
    [v.boolean(), strictOptions({ peer: flag, host: flag })],
    "must be true, false or { peer, host }",
  );
  const inFolder = (path: string | undefined, folder: string): string | undefined => path && resolve(folder, path);
  return {
    ca: landing(file, "caFile", inFolder),
    cert: landing(file, "certFile", inFolder),
    key: landing(file, "keyFile", inFolder),
    certType: landing(type, "certType"),
    keyType: landing(type, "keyType"),
    verify: inner(v.optional(verify)),
  } satisfies FieldsFor<TlsOptions>;
}

/** Returns the schema of a target's TLS. */
export function tlsSchema() {
  const fields = tlsFields();
  const names = Object.keys(fields).join(", ");
  return v.union([v.boolean(), strictOptions(schemasOf(fields))], `must be true, false or { ${names} }`);
}

/** Converts TLS settings to their form in a plan. @param folder base of relative paths */
export function toTlsPlan(tls: OutputOf<typeof tlsSchema> = false, folder: string): TlsPlan {
  const options = typeof tls === "boolean" ? {} : tls;
  const { verify = true } = options;
  const { peer = true, host = true } = typeof verify === "boolean" ? { peer: verify, host: verify } : verify;
  return {
    ...DEFAULT_TLS,
    isEnabled: tls !== false,
    ...landed(tlsFields(), options, folder),
    verifyPeer: peer,
    verifyHost: host,
  };
}
