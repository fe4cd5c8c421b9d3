import * as v from "valibot";
import { parseLatency } from "../mock/latency.ts";
import type { TargetPlan } from "../plan/plan.ts";
import type { Schema } from "../plan/schema.ts";
import { type ComposingModelPlan, DEFAULT_TRITON_TARGET, type TritonTargetPlan } from "../service/triton/target.ts";
import { countSchema, nameSchema, strictOptions } from "./fields.ts";
import {
  type CheckedLlm,
  embeddedLlmContent,
  type LlmContent,
  llmTargetSchemas,
  openAiContent,
  toEmbeddedLlmPlan,
  toOpenAiPlan,
} from "./llm-targets.ts";
import { parametersSchema, type RequestParameter, toParameterPlan } from "./parameters.ts";
import { type Protocol, splitUrls, type Target } from "./target.ts";
import { headersSchema, latencySchema, type MockLatency } from "./target-fields.ts";
import { type TlsOptions, tlsSchema, toTlsPlan } from "./tls.ts";

interface TritonCommonOptions {
  /** Name of the model. */
  readonly model: string;
  /** Version of the model. Default: the server's choice. */
  readonly version?: string;
  /** Items per request, 1 or more. Default: 1. */
  readonly batchSize?: number;
  /** Shapes of inputs with variable shape, without the batch dimension: `{ INPUT0: [3, 224, 224] }`. Default: none. */
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
  /**
   * Put tensors into memory that a server on the same machine shares: the system's or a GPU's. Requests then only name the place. Default:
   * tensors are sent.
   */
  readonly sharedMemory?: "system" | "cuda";
  /** Bytes of shared memory for one item of an output with variable size, 1 or more. Default: 102,400. */
  readonly outputSharedMemoryBytes?: number;
  /** HTTP headers or gRPC metadata of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Models that a BLS model calls, as `"name"` or `"name:version"`; the report has their server times too. Those of an ensemble are found
   * without this. Default: none.
   */
  readonly composingModels?: readonly string[];
  /** Use TLS; `true` trusts the authorities of the runtime. Default: false, or true for `https://`. */
  readonly tls?: boolean | TlsOptions;
}

/** Options of {@link triton} over HTTP. */
export interface TritonHttpOptions extends TritonCommonOptions {
  /** Protocol. Default: `"http"`. */
  readonly protocol?: "http";
  /** How input tensors are sent (HTTP only). Default: `"binary"`. */
  readonly inputTensorFormat?: "binary" | "json";
  /** How output tensors are requested (HTTP only). Default: `"binary"`. */
  readonly outputTensorFormat?: "binary" | "json";
}

/** Options of {@link triton} over gRPC. */
export interface TritonGrpcOptions extends TritonCommonOptions {
  readonly protocol: "grpc";
  /** Parameters of every request besides its tensors (gRPC only): `{ max_tokens: 256, temperature: 0.5 }`. Default: none. */
  readonly parameters?: Readonly<Record<string, RequestParameter>>;
  /** Use one bidirectional stream per connection instead of a call per request (gRPC only). Default: false. */
  readonly streaming?: boolean;
  /** Compress requests that become shorter by it (gRPC only). Default: none. */
  readonly compression?: "gzip" | "deflate";
}

interface EmbeddedCommonOptions {
  /** Items per request, 1 to 8. Default: 1. */
  readonly batchSize?: number;
  /** Time before each response. Default: `"0 ms"`. */
  readonly latency?: MockLatency;
  /** Share of requests that get an error, 0 to 1. Default: 0. */
  readonly errorRatio?: number;
  /** Bytes of extra output per response. Default: 0. */
  readonly responseBytes?: number;
}

/** Options of {@link embedded}. */
export type EmbeddedOptions = EmbeddedCommonOptions &
  (
    | {
        /** Protocol. Default: `"http"`. */
        readonly protocol?: "http";
      }
    | {
        readonly protocol: "grpc";
        /** Use one bidirectional stream per connection (gRPC only). Default: false. */
        readonly streaming?: boolean;
      }
  );

/**
 * A Triton server, or another that speaks KServe v2 as it does.
 * @param url `host:port` (default ports: 8000 for HTTP, 8001 for gRPC), or an `http://` or `https://` URL. With several, requests go to
 *   each in turn.
 */
export function triton(url: string | readonly string[], options: TritonHttpOptions): Target<"http", "tensors">;
export function triton(url: string | readonly string[], options: TritonGrpcOptions): Target<"grpc", "tensors">;
export function triton(
  url: string | readonly string[],
  options: TritonHttpOptions | TritonGrpcOptions,
): Target<Protocol, "tensors"> {
  return { kind: "triton", ...splitUrls(url), options };
}

/** A small server inside Rampart, for the time of the run: Triton's model `simple`, the sum and difference of two INT32[16]. */
export function embedded(options?: EmbeddedOptions & { readonly protocol?: "http" }): Target<"http", "tensors">;
export function embedded(options: EmbeddedOptions & { readonly protocol: "grpc" }): Target<"grpc", "tensors">;
export function embedded(options: EmbeddedOptions = {}): Target<Protocol, "tensors"> {
  return { kind: "embedded", url: "", options };
}

type CheckedTriton = TritonCommonOptions & {
  readonly parameters?: Readonly<Record<string, RequestParameter>>;
  readonly protocol?: Protocol;
  readonly streaming?: boolean;
  readonly inputTensorFormat?: "binary" | "json";
  readonly outputTensorFormat?: "binary" | "json";
  readonly compression?: "gzip" | "deflate";
};

type CheckedEmbedded = EmbeddedCommonOptions & { readonly protocol?: Protocol; readonly streaming?: boolean };

/** A validated target. */
export type CheckedTarget =
  | CheckedLlm
  | {
      readonly kind: "triton";
      readonly url: string;
      readonly moreUrls?: readonly string[];
      readonly options: CheckedTriton;
    }
  | { readonly kind: "embedded"; readonly url: string; readonly options: CheckedEmbedded };

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024; // 64 MiB
const COMPOSING_MODEL = /^[^:,\s]+(?::[1-9][0-9]*)?$/;

/** Returns the schema of a scenario's target. */
export function targetSchema(): Schema<CheckedTarget> {
  const format = v.optional(v.picklist(["binary", "json"], "must be binary or json"));
  const spoken = {
    protocol: v.optional(v.picklist(["http", "grpc"], 'must be "http" or "grpc"')),
    streaming: v.optional(v.boolean("must be true or false")),
  };
  const tritonOptions = strictOptions({
    ...spoken,
    model: nameSchema("a model's name"),
    version: v.optional(v.string("must be text")),
    batchSize: v.optional(countSchema()),
    inputTensorFormat: format,
    outputTensorFormat: format,
    compression: v.optional(v.picklist(["gzip", "deflate"], 'must be "gzip" or "deflate"')),
    shapes: v.optional(
      v.record(v.string(), v.array(countSchema(), "must be a list of sizes"), "must be sizes by the input's name"),
    ),
    sharedMemory: v.optional(v.picklist(["system", "cuda"], 'must be "system" or "cuda"')),
    outputSharedMemoryBytes: v.optional(countSchema()),
    headers: headersSchema(),
    composingModels: v.optional(
      v.array(
        v.pipe(v.string("must be text"), v.regex(COMPOSING_MODEL, 'must be "name" or "name:version"')),
        "must be a list of models",
      ),
    ),
    parameters: v.optional(parametersSchema()),
    tls: v.optional(tlsSchema()),
  });
  const embeddedOptions = strictOptions({
    ...spoken,
    batchSize: v.optional(v.pipe(countSchema(), v.maxValue(8, "must be 8 at most"))),
    latency: v.optional(latencySchema()),
    errorRatio: v.optional(
      v.pipe(v.number("must be a number"), v.minValue(0, "must be 0 or more"), v.maxValue(1, "must be 1 or less")),
    ),
    responseBytes: v.optional(
      v.pipe(
        v.number("must be a number"),
        v.integer("must be a whole number"),
        v.minValue(0, "must be 0 or more"),
        v.maxValue(MAX_RESPONSE_BYTES, "must be 64 MiB at most"),
      ),
    ),
  });
  const tensors = v.variant(
    "kind",
    [
      v.object({
        kind: v.literal("triton"),
        url: nameSchema("host:port or a URL"),
        moreUrls: v.optional(v.array(nameSchema("host:port or a URL"))),
        options: tritonOptions,
      }),
      v.object({ kind: v.literal("embedded"), url: v.string(), options: embeddedOptions }),
    ],
    "must be triton(…), openai(…), embedded(…) or embeddedLlm(…)",
  );
  const checked = v.pipe(
    tensors,
    v.forward(
      v.partialCheck(
        [
          ["options", "streaming"],
          ["options", "protocol"],
        ],
        ({ options }) => options?.streaming !== true || options.protocol === "grpc",
        'needs protocol: "grpc"',
      ),
      ["options", "streaming"],
    ),
    v.forward(
      v.partialCheck(
        [
          ["options", "compression"],
          ["options", "protocol"],
        ],
        ({ options }) => !isGiven(options, "compression") || options.protocol === "grpc",
        'needs protocol: "grpc"',
      ),
      ["options", "compression"],
    ),
    v.forward(
      v.partialCheck(
        [
          ["options", "parameters"],
          ["options", "protocol"],
        ],
        ({ options }) => !isGiven(options, "parameters") || options.protocol === "grpc",
        'needs protocol: "grpc"',
      ),
      ["options", "parameters"],
    ),
  );
  const llms = v.variant("kind", llmTargetSchemas());
  const isLlm = (input: unknown): boolean => {
    const kind = (input as Target | null)?.kind ?? "";
    return Object.hasOwn(TARGET_BUILDERS, kind) && TARGET_BUILDERS[kind as Target["kind"]].content !== undefined;
  };
  return v.lazy((input): v.GenericSchema => (isLlm(input) ? llms : checked)) as unknown as Schema<CheckedTarget>;
}

/** A check of two options also runs for targets without an options object. */
function isGiven(options: object | null | undefined, name: string): boolean {
  return typeof options === "object" && options !== null && name in options;
}

/** A builder of targets: everything that the other modules ask about it. */
interface TargetBuilder<T extends CheckedTarget> {
  /** The call in a scenario. */
  readonly call: string;
  /** Whether the run starts it, so that it has no address. */
  readonly isOwn?: true;
  toPlan(target: T, folder: string): TargetPlan;
  /** Returns the format of its requests and responses. Absent for tensors. */
  content?(target: T, folder: string): LlmContent;
}

const TARGET_BUILDERS: { readonly [K in Target["kind"]]: TargetBuilder<Extract<CheckedTarget, { kind: K }>> } = {
  triton: { call: "triton(…)", toPlan: toTritonPlan },
  openai: { call: "openai(…)", toPlan: toOpenAiPlan, content: openAiContent },
  embedded: { call: "embedded()", isOwn: true, toPlan: toEmbeddedPlan },
  "embedded-llm": { call: "embeddedLlm()", isOwn: true, toPlan: toEmbeddedLlmPlan, content: embeddedLlmContent },
};

/** Returns the builder of a target. */
export function targetBuilderOf(target: CheckedTarget): TargetBuilder<CheckedTarget> {
  return TARGET_BUILDERS[target.kind] as TargetBuilder<CheckedTarget>;
}

function toEmbeddedPlan({ options }: Extract<CheckedTarget, { kind: "embedded" }>): TargetPlan {
  const { latency = "0 ms", errorRatio = 0, responseBytes = 0 } = options;
  const drawn = parseLatency(latency) ?? { kind: "constant", ms: 0 };
  return { kind: "embedded", ...toCommonPlan(options), mock: { latency: drawn, errorRatio, responseBytes } };
}

function toTritonPlan(target: Extract<CheckedTarget, { kind: "triton" }>, folder: string): TargetPlan {
  const { url, moreUrls = [], options } = target;
  return {
    kind: "triton",
    url,
    ...(moreUrls.length > 0 ? { moreUrls } : {}),
    ...toCommonPlan(options),
    model: options.model,
    modelVersion: options.version ?? "",
    inputTensorFormat: options.inputTensorFormat ?? "binary",
    outputTensorFormat: options.outputTensorFormat ?? "binary",
    headers: Object.entries(options.headers ?? {}),
    shapes: options.shapes ?? {},
    sharedMemory: options.sharedMemory ?? "none",
    outputSharedMemoryBytes: options.outputSharedMemoryBytes ?? DEFAULT_TRITON_TARGET.outputSharedMemoryBytes,
    parameters: toParameters(options.parameters),
    compression: options.compression ?? "none",
    composingModels: (options.composingModels ?? []).map(toComposingModel),
    tls: toTlsPlan(options.tls, folder),
  };
}

function toCommonPlan({ protocol = "http", streaming = false, batchSize = 1 }: CheckedTriton | CheckedEmbedded) {
  return { protocol, isStreaming: streaming, batchSize };
}

function toComposingModel(text: string): ComposingModelPlan {
  const [name = "", version = ""] = text.split(":");
  return { name, version };
}

function toParameters(given: Readonly<Record<string, RequestParameter>> = {}): TritonTargetPlan["parameters"] {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, toParameterPlan(value)]));
}
