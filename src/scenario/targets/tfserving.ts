import * as v from "valibot";
import type { TargetPlan } from "../../plan/plan.ts";
import { listSchema, type OutputOf } from "../../plan/schema.ts";
import { tensorEntries } from "../../service/target-schemas.ts";
import { DEFAULT_TF_SERVING_TARGET } from "../../service/tfserving/target.ts";
import { refuseMore } from "../arguments.ts";
import { nameSchema, strictOptions } from "../fields.ts";
import { serverForm } from "../form.ts";
import { splitUrls, type Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { type FieldsFor, landed, landing, planFields, schemasOf } from "./target-field.ts";
import { headersField, type ModelOptions, modelField, serverEntries, tlsField, toServerPlan } from "./target-fields.ts";

/** Options of {@link tfserving}. */
export interface TfServingOptions extends ModelOptions {
  /** Version of the model: a number is a version, any other text a version label. Default: the server's choice. */
  readonly version?: string;
  /** Signature of the model. Default: `"serving_default"`. */
  readonly signature?: string;
  /** Number of items per request, 1 or more. From 2 on, the first dimension of every tensor is the batch. Default: 1. */
  readonly batchSize?: number;
  /**
   * Shapes of inputs with variable shape: `{ images: [1, 224, 224, 3] }`. With a `batchSize` of 2 or more, shapes of one item, without
   * the first dimension. Default: none.
   */
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
  /** Names of the requested outputs. Default: all outputs of the signature. */
  readonly outputs?: readonly string[];
  /** Compresses requests that become shorter. Default: none. */
  readonly compression?: "gzip" | "deflate";
}

/**
 * A TensorFlow Serving server, over gRPC.
 * @param url `host:port` (default port: 8500), or an `http://` or `https://` URL. With several addresses, requests go to
 * each one in turn.
 * @example
 * tfserving("localhost:8500", { model: "half_plus_two", signature: "serving_default", shapes: { x: [3] } })
 */
export function tfserving(
  url: string | readonly string[],
  options: TfServingOptions,
): Target<"grpc", "tensors", never> {
  refuseMore("tfserving(url, options)", arguments);
  return { kind: "tfserving", ...splitUrls(url), options: options as { readonly protocol?: "grpc" } };
}

export const tfServingBuilder: TargetBuilder<TfServingTarget> = {
  form: serverForm("tfserving"),
  schema: tfServingSchema,
  toPlan: toTfServingPlan,
};

type TfServingTarget = OutputOf<typeof tfServingSchema>;

function tfServingFields() {
  const names = v.optional(listSchema(nameSchema("an output's name"), "names"));
  return {
    model: modelField(),
    version: landing(v.optional(nameSchema("a version or a label")), "modelVersion"),
    signature: landing(v.optional(nameSchema("a signature's name")), "signatureName"),
    ...planFields(tensorEntries(), { batchSize: "batchSize", shapes: "shapes", compression: "compression" }),
    outputs: landing(names, "outputNames"),
    headers: headersField(),
    tls: tlsField(),
  } satisfies FieldsFor<TfServingOptions>;
}

function tfServingSchema() {
  const options = strictOptions(schemasOf(tfServingFields()));
  return v.object({
    kind: v.literal("tfserving"),
    ...serverEntries('tfserving("localhost:8500", { model: "NAME" })'),
    options,
  });
}

function toTfServingPlan({ options, ...server }: TfServingTarget, folder: string): TargetPlan {
  return { ...DEFAULT_TF_SERVING_TARGET, ...toServerPlan(server), ...landed(tfServingFields(), options, folder) };
}
