import type { TlsPlan } from "../plan/plan.ts";
import type { Builders, Schema } from "../plan/schema.ts";

/** Returns the schema of headers or metadata of every request. */
export function headersSchema(v: Builders): Schema<[name: string, value: string][]> {
  const name = v.pipe(v.string(), v.regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, "must be a header name"));
  // A line break could inject a header.
  const value = v.pipe(v.string(), v.regex(/^[^\r\n\0]*$/, "must not contain a line break"));
  return v.array(v.tuple([name, value]));
}

/** Returns the schema of the servers besides the first one. */
export function moreUrlsSchema(v: Builders): Schema<readonly string[] | undefined> {
  return v.optional(v.array(v.pipe(v.string(), v.nonEmpty("must name a server"))));
}

/** Returns the schema of TLS settings. */
export function tlsSchema(v: Builders): Schema<TlsPlan> {
  const fileType = v.picklist(["PEM", "DER"], "must be PEM or DER");
  return v.object({
    isEnabled: v.boolean(),
    caFile: v.string(),
    certFile: v.string(),
    certType: fileType,
    keyFile: v.string(),
    keyType: fileType,
    verifyPeer: v.boolean(),
    verifyHost: v.boolean(),
  });
}
