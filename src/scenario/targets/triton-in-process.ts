import * as v from "valibot";
import type { TargetPlan } from "../../plan/plan.ts";
import type { OutputOf } from "../../plan/schema.ts";
import { DEFAULT_TRITON_TARGET } from "../../service/triton/target.ts";
import { DEFAULT_TRITON_DIRECTORY } from "../../service/triton-c-api/target.ts";
import { refuseMore } from "../arguments.ts";
import { nameSchema, strictOptions } from "../fields.ts";
import type { ExtractOptions } from "./extract.ts";
import type { RequestParameter } from "./request-parameters.ts";
import type { Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { type FieldsFor, fromFolder, landed, landing, schemasOf } from "./target-field.ts";
import { tritonModelFields } from "./triton.ts";

/** Options of {@link tritonInProcess}. */
export interface TritonInProcessOptions<E extends string = string> extends ExtractOptions<E> {
  /** Triton's installation: the folder with `lib/libtritonserver.so` and `backends`. Default: `"/opt/tritonserver"`. */
  readonly directory?: string;
  /** Folder of the models. A path that begins with a dot starts at the scenario's folder. */
  readonly modelRepository: string;
  /** Name of the model. */
  readonly model: string;
  /** Version of the model. Default: the newest. */
  readonly version?: string;
  /** Number of items per request, 1 or more. Default: 1. */
  readonly batchSize?: number;
  /** Allows any number of responses to a request, as decoupled models need. Default: false. */
  readonly streaming?: boolean;
  /** Shapes of inputs with variable shape, without the batch dimension: `{ INPUT0: [3, 224, 224] }`. Default: none. */
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
  /** Puts tensors into memory that Triton reads and writes in place. Default: they are copied. */
  readonly sharedMemory?: "system";
  /** Bytes of shared memory for one item of an output with variable size, 1 or more. Default: 102,400. */
  readonly outputSharedMemoryBytes?: number;
  /** Parameters of every request, in addition to its tensors: `{ max_tokens: 256 }`. Default: none. */
  readonly parameters?: Readonly<Record<string, RequestParameter>>;
  /**
   * Models that a BLS model calls, as `"name"` or `"name:version"`. They are loaded with it, and the report shows their times too. Models
   * of an ensemble are found automatically. Default: none.
   */
  readonly composingModels?: readonly string[];
}

/**
 * Triton's library in a process that the run starts, without a network. Needs Linux; on Node and Deno also a C compiler (`cc`); without
 * it, latencies are longer and the report contains a warning.
 * @example
 * tritonInProcess({ modelRepository: "./models", model: "resnet50" })
 */
export function tritonInProcess<const E extends string = never>(
  options: TritonInProcessOptions<E>,
): Target<"grpc", "tensors", `extracted: ${E}`> {
  refuseMore("tritonInProcess(options)", arguments);
  return { kind: "tritonInProcess", url: "", options: options as { readonly protocol?: "grpc" } };
}

export const tritonInProcessBuilder: TargetBuilder<InProcessTarget> = {
  form: { name: "tritonInProcess" },
  startsServer: true,
  schema: inProcessSchema,
  toPlan: toInProcessPlan,
};

type InProcessTarget = OutputOf<typeof inProcessSchema>;

function inProcessFields() {
  const { outputSharedMemoryBytes, parameters, composingModels, extract, ...model } = tritonModelFields();
  const version = v.optional(v.pipe(v.string("must be text"), v.regex(/^[1-9][0-9]*$/, "must be a number")));
  return {
    directory: landing(v.optional(nameSchema("a folder")), "directory", (path = DEFAULT_TRITON_DIRECTORY, folder) =>
      fromFolder(path, folder),
    ),
    modelRepository: landing(nameSchema("a folder"), "modelRepository", fromFolder),
    ...model,
    version: landing(version, "modelVersion"),
    sharedMemory: landing(v.optional(v.literal("system", 'must be "system"')), "sharedMemory"),
    ...{ outputSharedMemoryBytes, parameters, composingModels, extract },
  } satisfies FieldsFor<TritonInProcessOptions>;
}

function inProcessSchema() {
  const options = strictOptions(schemasOf(inProcessFields()));
  return v.object({ kind: v.literal("tritonInProcess"), url: v.string(), options });
}

function toInProcessPlan({ options }: InProcessTarget, folder: string): TargetPlan {
  const { modelVersion, batchSize, isStreaming, shapes, outputSharedMemoryBytes, composingModels } =
    DEFAULT_TRITON_TARGET;
  return {
    kind: "triton-c-api",
    protocol: "grpc",
    ...{ modelVersion, batchSize, isStreaming, shapes, outputSharedMemoryBytes, composingModels },
    sharedMemory: "none",
    ...landed(inProcessFields(), options, folder),
  };
}
