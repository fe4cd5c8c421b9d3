import * as v from "valibot";
import type { TargetPlan } from "../../plan/plan.ts";
import type { OutputOf } from "../../plan/schema.ts";
import { tensorEntries } from "../../service/target-schemas.ts";
import { DEFAULT_TF_SERVING_TARGET } from "../../service/tfserving/target.ts";
import { nameSchema, strictOptions } from "../fields.ts";
import { serverForm } from "../form.ts";
import { splitUrls, type Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { fieldEntries, fieldsOf, headersSchema, serverEntries, toServerPlan } from "./target-fields.ts";
import { type TlsOptions, tlsSchema, toTlsPlan } from "./tls.ts";

/** Options of {@link tfserving}. */
export interface TfServingOptions {
  /** Name of the model. */
  readonly model: string;
  /** Version of the model: a number is a version, any other text a version label. Default: the server's choice. */
  readonly version?: string;
  /** Signature of the model. Default: `"serving_default"`. */
  readonly signature?: string;
  /** Items per request, 1 or more. From 2 on the first dimension of every tensor is the batch. Default: 1. */
  readonly batchSize?: number;
  /**
   * Shapes of inputs with variable shape: `{ images: [1, 224, 224, 3] }`. With a `batchSize` of 2 or more those of one item, without the
   * first dimension. Default: none.
   */
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
  /** Names of the outputs to ask for. Default: all of the signature. */
  readonly outputs?: readonly string[];
  /** Metadata of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Compress requests that become shorter by it. Default: none. */
  readonly compression?: "gzip" | "deflate";
  /** Use TLS; `true` trusts the authorities of the runtime. Default: false, or true for `https://`. */
  readonly tls?: boolean | TlsOptions;
}

/**
 * A TensorFlow Serving server, over gRPC.
 * @param url `host:port` (default port: 8500), or an `http://` or `https://` URL. With several, requests go to each in turn.
 * @example
 * tfserving("localhost:8500", { model: "half_plus_two", signature: "serving_default", shapes: { x: [3] } })
 */
export function tfserving(url: string | readonly string[], options: TfServingOptions): Target<"grpc", "tensors"> {
  return { kind: "tfserving", ...splitUrls(url), options: options as { readonly protocol?: "grpc" } };
}

export const tfServingBuilder: TargetBuilder<TfServingTarget> = {
  form: serverForm("tfserving"),
  schema: tfServingSchema,
  toPlan: toTfServingPlan,
};

type TfServingTarget = OutputOf<typeof tfServingSchema>;

const TENSOR_FIELDS = { batchSize: "batchSize", shapes: "shapes", compression: "compression" } as const;

function tfServingSchema() {
  const options = strictOptions({
    model: nameSchema("a model's name"),
    version: v.optional(nameSchema("a version or a label")),
    signature: v.optional(nameSchema("a signature's name")),
    ...fieldEntries(tensorEntries(), TENSOR_FIELDS),
    outputs: v.optional(v.array(nameSchema("an output's name"), "must be a list of names")),
    headers: headersSchema(),
    tls: v.optional(tlsSchema()),
  });
  return v.object({ kind: v.literal("tfserving"), ...serverEntries(), options });
}

function toTfServingPlan({ options, ...server }: TfServingTarget, folder: string): TargetPlan {
  const { model, outputs = [], headers = {}, tls } = options;
  return {
    ...DEFAULT_TF_SERVING_TARGET,
    ...toServerPlan(server),
    model,
    ...fieldsOf(options, { version: "modelVersion", signature: "signatureName", ...TENSOR_FIELDS }),
    outputNames: [...outputs],
    headers: Object.entries(headers),
    tls: toTlsPlan(tls, folder),
  };
}
