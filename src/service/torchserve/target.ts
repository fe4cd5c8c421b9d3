import * as v from "valibot";
import { filledSchema, type PlanOf } from "../../plan/schema.ts";
import { neverStreams, serverEntries } from "../target-schemas.ts";

export type TorchServeTargetPlan = PlanOf<typeof torchServeTargetSchema>;

/** Name of the part of a form, and of a raw body, in TorchServe's documentation. */
export const DEFAULT_PART = "data";
export const DEFAULT_CONTENT_TYPE = "application/octet-stream";

/** Returns the schema of a target whose requests each consist of a file. */
export function torchServeTargetSchema() {
  // A line break could inject a header.
  const text = v.pipe(v.string(), v.nonEmpty("must not be empty"), v.regex(/^[^\r\n\0]*$/, "must be one line"));
  return v.object({
    kind: v.literal("torchserve"),
    ...serverEntries(),
    protocol: v.literal("http", "must be http"),
    /** Empty: the server's default version. */
    modelVersion: v.string(),
    /** Form of a request: a form with one part of this name, or the input itself. */
    body: v.variant("kind", [
      v.object({ kind: v.literal("multipart"), part: text }),
      v.object({ kind: v.literal("raw"), contentType: text }),
    ]),
    batchSize: v.literal(1, "must be 1: a request carries one input, and TorchServe joins requests into batches"),
    isStreaming: neverStreams(),
    /** Address of the management API, which lists models. Default: the next port of the server. */
    managementUrl: v.exactOptional(filledSchema("must name a server")),
  });
}
