import * as v from "valibot";
import { filledSchema, listSchema, type Schema, wholeSchema } from "../plan/schema.ts";
import { tlsSchema } from "../plan/tls.ts";
import { HEADER_NAME, HEADER_VALUE } from "../transport/request.ts";

/** Fields that targets of all service kinds have, as an object's entries. */
export function serverEntries() {
  return {
    /** `host:port`, `http://host:port/prefix` or `https://…`. */
    url: filledSchema("must name a server"),
    /** More servers with the same model. Requests are sent to all of them round robin. */
    moreUrls: v.optional(v.array(filledSchema("must name a server"))),
    model: filledSchema("must name a model"),
    /** HTTP headers or gRPC metadata of every request. */
    headers: headersSchema(),
    tls: tlsSchema(),
  };
}

/** Fields of targets with tensors, as an object's entries. Scenarios have options with the same schemas. */
export function tensorEntries() {
  const count = wholeSchema(1);
  return {
    /** Items per request. */
    batchSize: count,
    /** Sizes of inputs with variable shapes. */
    shapes: v.record(v.string(), listSchema(count, "sizes"), "must be sizes by the input's name"),
    /** Compression of requests; gRPC only. */
    compression: v.picklist(["none", "gzip", "deflate"], "must be none, gzip or deflate"),
  };
}

/** Returns the schema of `isStreaming` for kinds whose requests have exactly one response. */
export function neverStreams(message = "must be false") {
  return v.pipe(
    v.boolean(),
    v.check((isStreaming) => !isStreaming, message),
  );
}

function headersSchema(): Schema<[name: string, value: string][]> {
  const name = v.pipe(v.string(), v.regex(HEADER_NAME, "must be a header name"));
  const value = v.pipe(v.string(), v.regex(HEADER_VALUE, "must not contain a line break"));
  return v.array(v.tuple([name, value]));
}
