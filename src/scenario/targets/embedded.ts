import * as v from "valibot";
import { parseLatency } from "../../mock/latency.ts";
import { DEFAULT_MOCK, MAX_MOCK_RESPONSE_BYTES } from "../../plan/mock.ts";
import type { TargetPlan } from "../../plan/plan.ts";
import type { OutputOf } from "../../plan/schema.ts";
import { countSchema, strictOptions } from "../fields.ts";
import type { Protocol, Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { latencySchema, type MockLatency, needsGrpc, streamedProtocolEntries } from "./target-fields.ts";

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
 * A small server inside Rampart, for the time of the run: Triton's model `simple`, the sum and difference of two INT32[16].
 * @example
 * embedded({ latency: "5 ms", errorRatio: 0.01 })
 */
export function embedded(options?: EmbeddedOptions & { readonly protocol?: "http" }): Target<"http", "tensors">;
export function embedded(options: EmbeddedOptions & { readonly protocol: "grpc" }): Target<"grpc", "tensors">;
export function embedded(options: EmbeddedCommonOptions & { readonly protocol: Protocol }): Target<Protocol, "tensors">;
export function embedded(options: EmbeddedOptions = {}): Target<Protocol, "tensors"> {
  return { kind: "embedded", url: "", options };
}

export const embeddedBuilder: TargetBuilder<EmbeddedTarget> = {
  form: { name: "embedded" },
  startsServer: true,
  schema: embeddedSchema,
  toPlan: toEmbeddedPlan,
};

type EmbeddedTarget = OutputOf<typeof embeddedSchema>;

function embeddedSchema() {
  const options = strictOptions({
    ...streamedProtocolEntries(),
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
        v.maxValue(MAX_MOCK_RESPONSE_BYTES, "must be 64 MiB at most"),
      ),
    ),
  });
  return v.pipe(v.object({ kind: v.literal("embedded"), url: v.string(), options }), needsGrpc("streaming"));
}

function toEmbeddedPlan({ options }: EmbeddedTarget): TargetPlan {
  const { protocol = "http", streaming = false, batchSize = 1 } = options;
  const { errorRatio = DEFAULT_MOCK.errorRatio, responseBytes = DEFAULT_MOCK.responseBytes } = options;
  const latency = options.latency === undefined ? undefined : parseLatency(options.latency);
  const mock = { latency: latency ?? DEFAULT_MOCK.latency, errorRatio, responseBytes };
  return { kind: "embedded", protocol, isStreaming: streaming, batchSize, mock };
}
