import * as v from "valibot";
import { filledSchema, type PlanOf } from "../../plan/schema.ts";
import { DEFAULT_TRITON_TARGET, type TritonTargetPlan, tritonModelEntries } from "../triton/target.ts";

/** Triton in a separate process, through its C API. */
export type TritonInProcessTargetPlan = PlanOf<typeof tritonInProcessSchema>;

/** Installation folder in Triton's container. */
export const DEFAULT_TRITON_DIRECTORY = "/opt/tritonserver";

/** Returns the schema of an in-process target. */
export function tritonInProcessSchema() {
  return v.object({
    kind: v.literal("triton-c-api"),
    /** Triton's installation: the folder with `lib/libtritonserver.so` and `backends`. */
    directory: filledSchema("must name a folder"),
    /** A folder, or another address that Triton's library supports, such as `s3://…`. */
    modelRepository: filledSchema("must name a folder"),
    model: filledSchema("must name a model"),
    /** The form of requests; there is no network. */
    protocol: v.literal("grpc"),
    ...tritonModelEntries(),
    /** Place of tensors: copied with requests and responses, or in memory shared with the library. */
    sharedMemory: v.picklist(["none", "system"], "must be none or system"),
  });
}

/** Returns the same model as a server's model, for code that handles both. */
export function toTritonTarget({
  directory: _,
  modelRepository: __,
  ...target
}: TritonInProcessTargetPlan): TritonTargetPlan {
  return { ...DEFAULT_TRITON_TARGET, ...target, kind: "triton", url: "in process" };
}
