import type { MockPlan } from "../../plan/mock.ts";
import type { Builders, PlanOf, Schema } from "../../plan/schema.ts";
import { DEFAULT_TLS } from "../../plan/tls.ts";
import type { OpenAiTargetPlan } from "../openai/target.ts";
import type { TargetKind } from "../service.ts";
import type { TritonTargetPlan } from "../triton/target.ts";

/** The embedded target: Rampart's own server, measured like a Triton or like a server of OpenAI's API. */

/** Rampart's built-in server, started for the run. */
export type EmbeddedTargetPlan = PlanOf<typeof embeddedTargetSchema>;

declare module "../../plan/plan.ts" {
  interface TargetPlans {
    readonly embedded: EmbeddedTargetPlan;
  }
}

/** The schema of the behaviour of the embedded target and of `rampart mock`. */
export function mockSchema(v: Builders): Schema<MockPlan> {
  const ms = v.pipe(v.number(), v.minValue(0, "must be 0 or more"), v.maxValue(600_000, "must be 10 min at most"));
  const latency = v.variant("kind", [
    v.object({ kind: v.literal("constant"), ms }),
    v.object({ kind: v.literal("uniform"), minMs: ms, maxMs: ms }),
    v.object({ kind: v.literal("normal"), meanMs: ms, deviationMs: ms }),
    v.object({ kind: v.literal("exponential"), meanMs: ms }),
  ]);
  const ratio = v.pipe(v.number(), v.minValue(0, "must be 0 or more"), v.maxValue(1, "must be 1 or less"));
  const whole = (least: number, most: number, says: string) =>
    v.pipe(
      v.number(),
      v.integer("must be a whole number"),
      v.minValue(least, `must be ${least} or more`),
      v.maxValue(most, says),
    );
  const tokens = (least: number) => whole(least, MAX_MOCK_TOKENS, "must be 1,000,000 at most");
  return v.object({
    latency,
    errorRatio: ratio,
    responseBytes: whole(0, 64 * 1024 * 1024, "must be 64 MiB at most"),
    llm: v.exactOptional(
      v.object({
        firstToken: latency,
        tokenGapMs: ms,
        outputTokens: tokens(1),
        tokensPerEvent: tokens(1),
        reasoningTokens: tokens(0),
        cutRatio: ratio,
      }),
    ),
  });
}

/** The most tokens that an answer of the mock may have. */
export const MAX_MOCK_TOKENS = 1_000_000;

/** The schema of an embedded target. */
export function embeddedTargetSchema(v: Builders) {
  const target = v.object({
    kind: v.literal("embedded"),
    protocol: v.picklist(["http", "grpc"], "must be http or grpc"),
    isStreaming: v.boolean(),
    batchSize: v.pipe(
      v.number(),
      v.integer("must be a whole number"),
      v.minValue(1, "must be 1 or more"),
      v.maxValue(8, "must be 8 at most"),
    ),
    mock: mockSchema(v),
    /** Path of its language model to measure, without a leading slash; absent: measure its tensor model. */
    llmPath: v.exactOptional(v.pipe(v.string(), v.nonEmpty("must be a path"))),
  });
  return v.pipe(
    target,
    v.forward(
      v.check(
        ({ isStreaming, protocol, llmPath }) => !isStreaming || protocol === "grpc" || llmPath !== undefined,
        "is only possible with gRPC",
      ),
      ["isStreaming"],
    ),
  );
}

/** The embedded target, which the run starts. */
export const embeddedKind: TargetKind<EmbeddedTargetPlan> = {
  schema: embeddedTargetSchema,
  urls: () => [],
  describe: ({ protocol }) => `embedded target over ${protocol}`,
  takes: ({ llmPath }) => (llmPath === undefined ? "tensors" : "payloads"),
  exported: ({ llmPath }) =>
    llmPath === undefined ? { serviceKind: "triton", endpoint: "" } : { serviceKind: "openai", endpoint: llmPath },
  check: (_target, { telemetry }) =>
    telemetry.trace === null
      ? []
      : [
          {
            path: "telemetry.trace",
            message: "the embedded target has no trace settings",
            hint: "Leave it out, or measure a Triton.",
          },
        ],
  toServer: toServerTarget,
};

/** The model the embedded target serves: Triton's `simple`, sum and difference of two INT32[16]. */
export const EMBEDDED_MODEL = "simple";

/** The language model it serves beside that. */
export const EMBEDDED_LLM = "mock-llm";

/** The target to measure once the embedded server listens on a loopback port. */
export function toServerTarget(target: EmbeddedTargetPlan, port: number): TritonTargetPlan | OpenAiTargetPlan {
  const { isStreaming, llmPath } = target;
  const common = { url: `127.0.0.1:${port}`, isStreaming, headers: [], tls: DEFAULT_TLS };
  if (llmPath !== undefined)
    return { kind: "openai", ...common, protocol: "http", model: EMBEDDED_LLM, endpoint: llmPath, batchSize: 1 };
  return {
    kind: "triton",
    ...common,
    protocol: target.protocol,
    model: EMBEDDED_MODEL,
    modelVersion: "",
    batchSize: target.batchSize,
    inputTensorFormat: "binary",
    outputTensorFormat: "binary",
    shapes: {},
    sharedMemory: "none",
    outputSharedMemoryBytes: 0,
    parameters: {},
    compression: "none",
    composingModels: [],
  };
}
