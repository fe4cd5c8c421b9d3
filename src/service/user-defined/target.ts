import * as v from "valibot";
import { functionSchema } from "../../plan/functions.ts";
import { type PlanOf, protocolSchema } from "../../plan/schema.ts";
import { extractEntries } from "../response-reader.ts";
import type { Wire } from "../service.ts";
import { serverEntries } from "../target-schemas.ts";

/** A server whose requests and responses a scenario's own functions encode and decode. */
export type CustomTargetPlan = PlanOf<typeof customTargetSchema>;

/** Returns the protocol of a target's requests. */
export function wireOf({ protocol, isStreaming }: Pick<CustomTargetPlan, "protocol" | "isStreaming">): Wire {
  return protocol === "grpc" && isStreaming ? "grpc-call" : protocol;
}

/** Returns the schema of a target that a scenario defines. Its `model` is the name from the scenario. */
export function customTargetSchema() {
  return v.object({
    kind: v.literal("user-defined"),
    ...serverEntries(),
    protocol: protocolSchema(),
    batchSize: v.literal(1, "must be 1: the scenario's functions set the number of items"),
    /** gRPC only: whether calls may have several messages each way. */
    isStreaming: v.boolean(),
    /** {@link DecodeResponse}. Absent: the other functions get the undecoded response. */
    decode: v.exactOptional(functionSchema()),
    /** {@link CheckOutput}. Absent: the protocol's status is enough. */
    check: v.exactOptional(functionSchema()),
    /** Its functions are {@link ExtractValue}. */
    ...extractEntries(),
  });
}
