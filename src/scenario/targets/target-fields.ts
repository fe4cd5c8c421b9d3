import * as v from "valibot";
import { parseLatency } from "../../mock/latency.ts";
import type { Schema } from "../../plan/schema.ts";
import type { Duration } from "../../plan/units.ts";
import { HEADER_NAME } from "../../transport/request.ts";
import { nameSchema } from "../fields.ts";

/** A latency of the embedded target: constant, or drawn from a distribution: `"uniform:1ms:9ms"`, `"normal:5ms:1ms"` (mean and deviation), `"exponential:5ms"`. */
export type MockLatency =
  | Duration
  | `uniform:${Duration}:${Duration}`
  | `normal:${Duration}:${Duration}`
  | `exponential:${Duration}`;

/** Returns the schema of a latency of the embedded target. */
export function latencySchema(): Schema<MockLatency> {
  return v.custom<MockLatency>(
    (input) => typeof input === "string" && parseLatency(input) !== undefined,
    'must be a duration of 10 min at most such as "5 ms", or "uniform:1ms:9ms", "normal:5ms:1ms" or "exponential:5ms"',
  );
}

/** Returns the schema of optional headers. */
export function headersSchema() {
  const value = v.pipe(v.string("must be text"), v.regex(/^[^\r\n\0]*$/, "must not contain a line break"));
  return v.optional(
    v.record(
      v.pipe(v.string(), v.regex(HEADER_NAME, "is not a header's name")),
      value,
      "must be texts by the header's name",
    ),
  );
}

/** The parts of a validated target that all builders share. */
export interface TargetAddress {
  readonly kind: string;
  /** Empty: the run starts its own server. */
  readonly url: string;
  readonly moreUrls?: readonly string[] | undefined;
}

/** Returns the schemas of a target's addresses, as an object's entries. */
export function serverEntries() {
  return {
    url: nameSchema("host:port or a URL"),
    moreUrls: v.optional(v.array(nameSchema("host:port or a URL"))),
  };
}

/** Returns the schemas of the options `protocol` and `streaming`, as an object's entries. */
export function streamedProtocolEntries() {
  return {
    protocol: v.optional(v.picklist(["http", "grpc"], 'must be "http" or "grpc"')),
    streaming: v.optional(v.boolean("must be true or false")),
  };
}

/** Returns the addresses for a plan. */
export function toServerPlan({ url, moreUrls = [] }: TargetAddress): { url: string; moreUrls?: string[] } {
  return { url, ...(moreUrls.length > 0 ? { moreUrls: [...moreUrls] } : {}) };
}
