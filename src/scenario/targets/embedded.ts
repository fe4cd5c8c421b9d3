import * as v from "valibot";
import { parseLatency } from "../../mock/latency.ts";
import { DEFAULT_MOCK, MAX_MOCK_RESPONSE_BYTES } from "../../plan/mock.ts";
import type { TargetPlan } from "../../plan/plan.ts";
import { atLeast, isWhole, numberSchema, type OutputOf } from "../../plan/schema.ts";
import type { Percent } from "../../plan/units.ts";
import { refuseMore } from "../arguments.ts";
import { countSchema, shareSchema, strictOptions, toRatio } from "../fields.ts";
import { type ExtractOptions, extractField } from "./extract.ts";
import type { Protocol, Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { type FieldsFor, landed, landing, schemasOf } from "./target-field.ts";
import { latencySchema, type MockLatency, needsGrpc, protocolField, streamingField } from "./target-fields.ts";

/** Faults of embedded servers. */
export interface FaultOptions {
  /** Share of requests that get an error: `"1 %"`. Default: 0. */
  readonly errorRate?: Percent | 0;
}

interface EmbeddedCommonOptions<E extends string = string> extends FaultOptions, ExtractOptions<E> {
  /** Number of items per request, 1 to 8. Default: 1. */
  readonly batchSize?: number;
  /** Time before each response. Default: `"0 ms"`. */
  readonly latency?: MockLatency;
  /** Number of bytes of additional output per response. Default: 0. */
  readonly responseBytes?: number;
}

/** Options of {@link embedded}. */
export type EmbeddedOptions<E extends string = string> = EmbeddedCommonOptions<E> &
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
 * A small server inside Rampart, for the duration of the run: Triton's model `simple`, the sum and difference of two
 * INT32[16].
 * @example
 * embedded({ latency: "5 ms", errorRate: "1 %" })
 */
export function embedded<const E extends string = never>(
  options?: EmbeddedOptions<E> & { readonly protocol?: "http" },
): Target<"http", "tensors", `extracted: ${E}`>;
export function embedded<const E extends string = never>(
  options: EmbeddedOptions<E> & { readonly protocol: "grpc" },
): Target<"grpc", "tensors", `extracted: ${E}`>;
export function embedded<const E extends string = never>(
  options: EmbeddedCommonOptions<E> & { readonly protocol: Protocol },
): Target<Protocol, "tensors", `extracted: ${E}`>;
export function embedded(options: EmbeddedOptions = {}): Target<Protocol, "tensors"> {
  refuseMore("embedded(options)", arguments);
  return { kind: "embedded", url: "", options };
}

export const embeddedBuilder: TargetBuilder<EmbeddedTarget> = {
  form: { name: "embedded" },
  startsServer: true,
  schema: embeddedSchema,
  toPlan: toEmbeddedPlan,
};

type EmbeddedTarget = OutputOf<typeof embeddedSchema>;

function embeddedFields() {
  const batchSize = v.optional(v.pipe(countSchema(), v.maxValue(8, "must be 8 at most")));
  return {
    protocol: protocolField(),
    streaming: streamingField(),
    batchSize: landing(batchSize, "batchSize", (size = 1) => size),
    extract: extractField(),
  };
}

/** Returns the option of {@link FaultOptions}. */
export function faultFields() {
  return { errorRate: ratioField("errorRatio") };
}

/** Creates an option that is a share of requests. @param at the field of the plan for the ratio */
export function ratioField<const P extends string>(at: P) {
  return landing(v.optional(shareSchema()), at, (share) => (share === undefined ? undefined : toRatio(share)));
}

/** Returns the options for the server's behaviour. */
function mockFields() {
  const bytes = v.pipe(
    numberSchema(),
    isWhole(),
    atLeast(0),
    v.maxValue(MAX_MOCK_RESPONSE_BYTES, "must be 64 MiB at most"),
  );
  return {
    latency: landing(v.optional(latencySchema()), "latency", (latency = "0 ms") => parseLatency(latency)),
    ...faultFields(),
    responseBytes: landing(v.optional(bytes), "responseBytes"),
  };
}

function embeddedSchema() {
  const fields = { ...embeddedFields(), ...mockFields() } satisfies FieldsFor<EmbeddedOptions>;
  const options = strictOptions(schemasOf(fields));
  return v.pipe(v.object({ kind: v.literal("embedded"), url: v.string(), options }), needsGrpc("streaming"));
}

function toEmbeddedPlan({ options }: EmbeddedTarget, folder: string): TargetPlan {
  const { llm: _, ...defaults } = DEFAULT_MOCK;
  const mock = { ...defaults, ...landed(mockFields(), options, folder) };
  return { kind: "embedded", ...landed(embeddedFields(), options, folder), mock };
}
