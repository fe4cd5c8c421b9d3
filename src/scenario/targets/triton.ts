import * as v from "valibot";
import type { TargetPlan } from "../../plan/plan.ts";
import { listSchema, type OutputOf } from "../../plan/schema.ts";
import {
  type ComposingModelPlan,
  DEFAULT_TRITON_TARGET,
  type TritonTargetPlan,
  tritonModelEntries,
  tritonServerEntries,
} from "../../service/triton/target.ts";
import { refuseMore } from "../arguments.ts";
import { countSchema, strictOptions } from "../fields.ts";
import { serverForm } from "../form.ts";
import { type ExtractOptions, extractField } from "./extract.ts";
import { parametersSchema, type RequestParameter, toParameterPlan } from "./request-parameters.ts";
import { type Protocol, splitUrls, type Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { type FieldsFor, landed, landing, planFields, schemasOf } from "./target-field.ts";
import {
  headersField,
  type ModelOptions,
  modelField,
  needsGrpc,
  protocolField,
  serverEntries,
  tlsField,
  toServerPlan,
} from "./target-fields.ts";

interface TritonCommonOptions<E extends string = string> extends ModelOptions, ExtractOptions<E> {
  /** Version of the model. Default: the server's choice. */
  readonly version?: string;
  /** Number of items per request, 1 or more. Default: 1. */
  readonly batchSize?: number;
  /** Shapes of inputs with variable shape, without the batch dimension: `{ INPUT0: [3, 224, 224] }`. Default: none. */
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
  /**
   * Puts tensors into memory shared with a server on the same machine: the system's or a GPU's. Requests then contain only the place of
   * the tensors. Default: tensors are sent.
   */
  readonly sharedMemory?: "system" | "cuda";
  /** Bytes of shared memory for one item of an output with variable size, 1 or more. Default: 102,400. */
  readonly outputSharedMemoryBytes?: number;
  /**
   * Models that a BLS model calls, as `"name"` or `"name:version"`; the report shows their server times too. Models of an ensemble are
   * found automatically. Default: none.
   */
  readonly composingModels?: readonly string[];
}

/** Options of {@link triton} over HTTP. */
export interface TritonHttpOptions<E extends string = string> extends TritonCommonOptions<E> {
  /** Protocol. Default: `"http"`. */
  readonly protocol?: "http";
  /** Format of input tensors (HTTP only). Default: `"binary"`, or `"json"` for a server that does not list binary tensors. */
  readonly inputTensorFormat?: "binary" | "json";
  /**
   * Requested format of output tensors (HTTP only). Default: `"binary"`, or `"json"` for a server that does not list binary tensors.
   */
  readonly outputTensorFormat?: "binary" | "json";
}

/** Options of {@link triton} over gRPC. */
export interface TritonGrpcOptions<E extends string = string> extends TritonCommonOptions<E> {
  /** Protocol. */
  readonly protocol: "grpc";
  /**
   * Parameters of every request, in addition to its tensors (gRPC only): `{ max_tokens: 256, temperature: 0.5 }`. Default:
   * none.
   */
  readonly parameters?: Readonly<Record<string, RequestParameter>>;
  /** Uses one bidirectional stream per connection instead of a call per request (gRPC only). Default: false. */
  readonly streaming?: boolean;
  /** Compresses requests that become shorter (gRPC only). Default: none. */
  readonly compression?: "gzip" | "deflate";
}

/**
 * A Triton server, or another server with Triton's KServe v2 protocol.
 * @param url `host:port` (default ports: 8000 for HTTP, 8001 for gRPC), or an `http://` or `https://` URL. With several addresses,
 * requests go to each one in turn.
 * @example
 * triton("localhost:8001", { protocol: "grpc", model: "resnet50" })
 */
export function triton<const E extends string = never>(
  url: string | readonly string[],
  options: TritonHttpOptions<E>,
): Target<"http", "tensors", `extracted: ${E}`>;
export function triton<const E extends string = never>(
  url: string | readonly string[],
  options: TritonGrpcOptions<E>,
): Target<"grpc", "tensors", `extracted: ${E}`>;
export function triton<const E extends string = never>(
  url: string | readonly string[],
  options: TritonCommonOptions<E> & { readonly protocol: Protocol },
): Target<Protocol, "tensors", `extracted: ${E}`>;
export function triton(
  url: string | readonly string[],
  options: TritonHttpOptions | TritonGrpcOptions,
): Target<Protocol, "tensors"> {
  refuseMore("triton(url, options)", arguments);
  return { kind: "triton", ...splitUrls(url), options };
}

const COMPOSING_MODEL = /^[^:,\s]+(?::[1-9][0-9]*)?$/;

export const tritonBuilder: TargetBuilder<TritonTarget> = {
  hasServerTrace: true,
  form: serverForm("triton"),
  schema: tritonSchema,
  toPlan: toTritonPlan,
};

type TritonTarget = OutputOf<typeof tritonSchema>;

/** Returns the options of a model, wherever Triton runs. */
export function tritonModelFields() {
  return {
    model: modelField(),
    ...planFields(tritonModelEntries(), {
      version: "modelVersion",
      batchSize: "batchSize",
      streaming: "isStreaming",
      shapes: "shapes",
    }),
    outputSharedMemoryBytes: landing(v.optional(countSchema()), "outputSharedMemoryBytes"),
    parameters: landing(v.optional(parametersSchema()), "parameters", toParameters),
    composingModels: landing(composingModelsSchema(), "composingModels", (models) => models?.map(toComposingModel)),
    extract: extractField(),
  };
}

function tritonFields() {
  const { parameters, ...model } = tritonModelFields();
  return {
    protocol: protocolField(),
    ...model,
    ...planFields(tritonServerEntries(), {
      inputTensorFormat: "inputTensorFormat",
      outputTensorFormat: "outputTensorFormat",
      sharedMemory: "sharedMemory",
      compression: "compression",
    }),
    headers: headersField(),
    parameters,
    tls: tlsField(),
  } satisfies FieldsFor<TritonHttpOptions | TritonGrpcOptions>;
}

function tritonSchema() {
  const options = strictOptions(schemasOf(tritonFields()));
  return v.pipe(
    v.object({ kind: v.literal("triton"), ...serverEntries('triton("localhost:8000", { model: "NAME" })'), options }),
    needsGrpc("streaming"),
    needsGrpc("compression"),
    needsGrpc("parameters"),
  );
}

function composingModelsSchema() {
  return v.optional(
    listSchema(
      v.pipe(v.string("must be text"), v.regex(COMPOSING_MODEL, 'must be "name" or "name:version"')),
      "models",
    ),
  );
}

function toTritonPlan({ options, ...server }: TritonTarget, folder: string): TargetPlan {
  const { inputTensorFormat, outputTensorFormat } = options;
  const binaryTensors: ("input" | "output")[] = [];
  if (inputTensorFormat === "binary") binaryTensors.push("input");
  if (outputTensorFormat === "binary") binaryTensors.push("output");
  return {
    ...DEFAULT_TRITON_TARGET,
    ...toServerPlan(server),
    ...landed(tritonFields(), options, folder),
    ...(binaryTensors.length === 0 ? {} : { binaryTensors }),
  };
}

/** Converts `name` or `name:version`. */
function toComposingModel(text: string): ComposingModelPlan {
  const [name = "", version = ""] = text.split(":");
  return { name, version };
}

/** Converts request parameters; default: none. */
function toParameters(given: Readonly<Record<string, RequestParameter>> = {}): TritonTargetPlan["parameters"] {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, toParameterPlan(value)]));
}
