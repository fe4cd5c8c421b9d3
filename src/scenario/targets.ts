import * as v from "valibot";
import { parseLatency } from "../mock/latency.ts";
import type { ComposingModelPlan, EmbeddedTargetPlan, TritonTargetPlan } from "../plan/plan.ts";
import type { Schema } from "../plan/schema.ts";
import type { Duration } from "../plan/units.ts";
import { countSchema, nameSchema } from "./fields.ts";
import { parametersSchema, type RequestParameter, toParameterPlan } from "./parameters.ts";
import { type TlsOptions, tlsSchema, toTlsPlan } from "./tls.ts";

/** perf_analyzer's default. */
const OUTPUT_SHARED_MEMORY_BYTES = 102_400;

/** The targets of scenarios: what is measured. */

/** How the server is spoken to. */
export type Protocol = "http" | "grpc";

interface TritonCommonOptions {
  /** Model to measure. */
  readonly model: string;
  /** Version of the model. Default: the server's choice. */
  readonly version?: string;
  /** Items per request, 1 or more. Default: 1. */
  readonly batchSize?: number;
  /** Sizes of inputs whose shape varies, without the batch dimension: `{ INPUT0: [3, 224, 224] }`. */
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
  /**
   * Tensors lie in memory shared with a server on the same machine, `"system"` or a GPU's, and requests tell only where. Default: they
   * are sent.
   */
  readonly sharedMemory?: "system" | "cuda";
  /** Bytes of shared memory for one item of an output of varying size, 1 or more. Default: 102,400. */
  readonly outputSharedMemoryBytes?: number;
  /** HTTP headers or gRPC metadata of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Models that the model calls by itself (business logic scripting), `"name"` or `"name:version"`, whose server times to report too.
   * An ensemble's are found without. Default: none.
   */
  readonly composingModels?: readonly string[];
  /** `true` speaks TLS with the runtime's authorities. Default: false, or true for `https://`. */
  readonly tls?: boolean | TlsOptions;
}

/** Options of {@link triton} over HTTP. */
export interface TritonHttpOptions extends TritonCommonOptions {
  readonly protocol?: "http";
  /** How tensors travel. Default: binary. */
  readonly inputTensorFormat?: "binary" | "json";
  readonly outputTensorFormat?: "binary" | "json";
}

/** Options of {@link triton} over gRPC. */
export interface TritonGrpcOptions extends TritonCommonOptions {
  readonly protocol: "grpc";
  /** Parameters of every request besides its tensors: `{ max_tokens: 256, temperature: 0.5 }`. Default: none. */
  readonly parameters?: Readonly<Record<string, RequestParameter>>;
  /** One bidirectional stream per connection instead of a call per request. Default: false. */
  readonly streaming?: boolean;
  /** Compresses requests that become shorter by it. Default: none. */
  readonly compression?: "gzip" | "deflate";
}

/** A latency of the embedded target: constant, or drawn from a distribution: `"uniform:1ms:9ms"`, `"normal:5ms:1ms"` (mean and deviation), `"exponential:5ms"`. */
export type MockLatency =
  | Duration
  | `uniform:${Duration}:${Duration}`
  | `normal:${Duration}:${Duration}`
  | `exponential:${Duration}`;

interface EmbeddedCommonOptions {
  /** Items per request, 1 to 8. Default: 1. */
  readonly batchSize?: number;
  /** Time before each answer. Default: `"0 ms"`. */
  readonly latency?: MockLatency;
  /** Share of requests answered with an error, 0 to 1. Default: 0. */
  readonly errorRatio?: number;
  /** Bytes of extra output per response. Default: 0. */
  readonly responseBytes?: number;
}

/** Options of {@link embedded}. */
export type EmbeddedOptions = EmbeddedCommonOptions &
  ({ readonly protocol?: "http" } | { readonly protocol: "grpc"; readonly streaming?: boolean });

/** A target over protocol `P`. */
export interface Target<P extends Protocol = Protocol> {
  readonly kind: "triton" | "embedded";
  readonly url: string;
  /** Further servers of the same model; absent: none. */
  readonly moreUrls?: readonly string[];
  readonly options: { readonly protocol?: P | undefined };
}

/**
 * A Triton server, or another that speaks KServe v2 as it does.
 * @param url `host:port` (default ports: 8000 for HTTP, 8001 for gRPC), or an `http://` or `https://` URL. Of several, requests go to each
 *   in turn.
 */
export function triton(url: string | readonly string[], options: TritonHttpOptions): Target<"http">;
export function triton(url: string | readonly string[], options: TritonGrpcOptions): Target<"grpc">;
export function triton(url: string | readonly string[], options: TritonHttpOptions | TritonGrpcOptions): Target {
  return { kind: "triton", ...splitUrls(url), options };
}

/** The first server and the others. */
function splitUrls(url: string | readonly string[]): Pick<Target, "url" | "moreUrls"> {
  if (!Array.isArray(url)) return { url: url as string };
  const [first, ...moreUrls] = url as readonly string[];
  return { url: first as string, moreUrls };
}

/** Rampart's own target, started in a thread for the run: Triton's model `simple`, the sum and difference of two INT32[16]. */
export function embedded(options?: EmbeddedOptions & { readonly protocol?: "http" }): Target<"http">;
export function embedded(options: EmbeddedOptions & { readonly protocol: "grpc" }): Target<"grpc">;
export function embedded(options: EmbeddedOptions = {}): Target {
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

/** A target that was checked. */
export type CheckedTarget =
  | {
      readonly kind: "triton";
      readonly url: string;
      readonly moreUrls?: readonly string[];
      readonly options: CheckedTriton;
    }
  | { readonly kind: "embedded"; readonly url: string; readonly options: CheckedEmbedded };

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024; // 64 MiB
const COMPOSING_MODEL = /^[^:,\s]+(?::[1-9][0-9]*)?$/;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The schema of a scenario's target. */
export function targetSchema(): Schema<CheckedTarget> {
  const format = v.optional(v.picklist(["binary", "json"], "must be binary or json"));
  const spoken = {
    protocol: v.optional(v.picklist(["http", "grpc"], 'must be "http" or "grpc"')),
    streaming: v.optional(v.boolean("must be true or false")),
  };
  const headerValue = v.pipe(v.string("must be text"), v.regex(/^[^\r\n\0]*$/, "must not contain a line break"));
  const tritonOptions = v.strictObject({
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
    headers: v.optional(
      v.record(
        v.pipe(v.string(), v.regex(HEADER_NAME, "is not a header's name")),
        headerValue,
        "must be texts by the header's name",
      ),
    ),
    composingModels: v.optional(
      v.array(
        v.pipe(v.string("must be text"), v.regex(COMPOSING_MODEL, 'must be "name" or "name:version"')),
        "must be a list of models",
      ),
    ),
    parameters: v.optional(parametersSchema()),
    tls: v.optional(tlsSchema()),
  });
  const latency = v.custom<MockLatency>(
    (input) => typeof input === "string" && parseLatency(input) !== undefined,
    'must be a duration of 10 min at most such as "5 ms", or "uniform:1ms:9ms", "normal:5ms:1ms" or "exponential:5ms"',
  );
  const embeddedOptions = v.strictObject({
    ...spoken,
    batchSize: v.optional(v.pipe(countSchema(), v.maxValue(8, "must be 8 at most"))),
    latency: v.optional(latency),
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
  const target = v.variant(
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
    "must be triton(…) or embedded(…)",
  );
  return v.pipe(
    target,
    v.forward(
      v.partialCheck(
        [
          ["options", "streaming"],
          ["options", "protocol"],
        ],
        ({ options }) => options.streaming !== true || options.protocol === "grpc",
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
        ({ options }) => !("compression" in options) || options.protocol === "grpc",
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
        ({ options }) => !("parameters" in options) || options.protocol === "grpc",
        'needs protocol: "grpc"',
      ),
      ["options", "parameters"],
    ),
  ) as Schema<CheckedTarget>;
}

/** The target of a plan. */
export function toTargetPlan(target: CheckedTarget, folder: string): TritonTargetPlan | EmbeddedTargetPlan {
  const { kind, url, options } = target;
  const common = {
    protocol: options.protocol ?? "http",
    isStreaming: options.streaming ?? false,
    batchSize: options.batchSize ?? 1,
  } as const;
  if (kind === "embedded") {
    const { latency = "0 ms", errorRatio = 0, responseBytes = 0 } = options;
    const drawn = parseLatency(latency) ?? { kind: "constant", ms: 0 };
    return { kind, ...common, mock: { latency: drawn, errorRatio, responseBytes } };
  }
  return {
    kind,
    url,
    ...(target.kind === "triton" && (target.moreUrls ?? []).length > 0 ? { moreUrls: target.moreUrls } : {}),
    ...common,
    model: options.model,
    modelVersion: options.version ?? "",
    inputTensorFormat: options.inputTensorFormat ?? "binary",
    outputTensorFormat: options.outputTensorFormat ?? "binary",
    headers: Object.entries(options.headers ?? {}),
    shapes: options.shapes ?? {},
    sharedMemory: options.sharedMemory ?? "none",
    outputSharedMemoryBytes: options.outputSharedMemoryBytes ?? OUTPUT_SHARED_MEMORY_BYTES,
    parameters: toParameters(options.parameters),
    compression: options.compression ?? "none",
    composingModels: (options.composingModels ?? []).map(toComposingModel),
    tls: toTlsPlan(options.tls, folder),
  };
}

function toComposingModel(text: string): ComposingModelPlan {
  const [name = "", version = ""] = text.split(":");
  return { name, version };
}

function toParameters(given: Readonly<Record<string, RequestParameter>> = {}): TritonTargetPlan["parameters"] {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, toParameterPlan(value)]));
}
