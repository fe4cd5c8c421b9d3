import * as v from "valibot";
import { filledSchema, type PlanOf } from "../../plan/schema.ts";
import { METHOD_NAME } from "../../transport/request.ts";
import { responseRulesEntries } from "../response-reader.ts";
import { neverStreams, serverEntries } from "../target-schemas.ts";

/** A method of a gRPC service of any kind. */
export type GrpcTargetPlan = PlanOf<typeof grpcTargetSchema>;

/** Returns the schema of a target whose requests are calls of a gRPC method. */
export function grpcTargetSchema() {
  const path = filledSchema("must name a file or a folder");
  return v.object({
    kind: v.literal("dynamic-grpc"),
    /** `model` is the name in reports: the method, unless the user sets another name. */
    ...serverEntries(),
    protocol: v.literal("grpc", "must be grpc"),
    method: v.pipe(v.string(), v.regex(METHOD_NAME, "must be package.Service/Method")),
    batchSize: v.literal(1, "must be 1: the messages set the number of items"),
    /** False: the method decides whether calls stream. */
    isStreaming: neverStreams("must be false: the method decides whether calls stream"),
    /** `.proto` files with the method and its messages. Empty: the server's reflection describes them. */
    protoFiles: v.array(path),
    /** Folders in which to find `.proto` files and their imports, before the folder of the importing file. */
    importPaths: v.array(path),
    /** Time at which the messages of a call are sent. Absent: all at once. */
    pacing: v.exactOptional(v.picklist(["at-once", "after-response"], "must be at-once or after-response")),
    ...responseRulesEntries(),
    compression: v.picklist(["none", "gzip", "deflate"], "must be none, gzip or deflate"),
  });
}
