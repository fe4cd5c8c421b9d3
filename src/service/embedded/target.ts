import * as v from "valibot";
import { mockSchema } from "../../plan/mock.ts";
import { problem } from "../../plan/problem.ts";
import { atLeast, filledSchema, isWhole, type PlanOf, protocolSchema } from "../../plan/schema.ts";
import { DEFAULT_TLS } from "../../plan/tls.ts";
import type { OpenAiTargetPlan } from "../openai/target.ts";
import { checkResponseRules, extractEntries } from "../response-reader.ts";
import type { TargetKind } from "../service.ts";
import type { TritonTargetPlan } from "../triton/target.ts";

/** The embedded target: Rampart's built-in server, measured like Triton or like an OpenAI server. */

/** Rampart's built-in server, started for the run. */
export type EmbeddedTargetPlan = PlanOf<typeof embeddedTargetSchema>;

function embeddedTargetSchema() {
  const target = v.object({
    kind: v.literal("embedded"),
    protocol: protocolSchema(),
    isStreaming: v.boolean(),
    batchSize: v.pipe(v.number(), isWhole(), atLeast(1), v.maxValue(8, "must be 8 at most")),
    mock: mockSchema(),
    /** Path of the language model to measure, without a leading slash. Absent: measure the tensor model. */
    llmPath: v.exactOptional(filledSchema("must be a path")),
    ...extractEntries(),
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

/** The embedded target: Rampart's built-in server, which the run starts and measures like Triton or an OpenAI server. */
export const embeddedKind: TargetKind<EmbeddedTargetPlan> = {
  schema: embeddedTargetSchema,
  urls: () => [],
  describe: ({ protocol }) => `embedded target over ${protocol}`,
  takes: ({ llmPath }) => (llmPath === undefined ? "tensors" : "payloads"),
  exported: ({ llmPath }) =>
    llmPath === undefined ? { serviceKind: "triton", endpoint: "" } : { serviceKind: "openai", endpoint: llmPath },
  check: (target, { telemetry }) => {
    const problems = checkResponseRules(target);
    if (telemetry.trace === null) return problems;
    const message = "the embedded target has no trace settings";
    const hint = "Leave it out, or measure a Triton server.";
    return [...problems, problem("unsupported", "telemetry.trace", message, hint)];
  },
  withSeed: (target, seed) => ({ ...target, mock: { ...target.mock, seed } }),
  toMock: ({ mock, protocol, llmPath }) => ({ plan: mock, kind: llmPath === undefined ? protocol : "chat" }),
  toServer: toServerTarget,
};

/** The model of the embedded target: Triton's `simple`, sum and difference of two INT32[16]. */
export const EMBEDDED_MODEL = "simple";

/** The embedded target's language model. */
export const EMBEDDED_LLM = "mock-llm";

/** Returns the target to measure once the embedded server listens on a loopback port. */
function toServerTarget(target: EmbeddedTargetPlan, port: number): TritonTargetPlan | OpenAiTargetPlan {
  const { isStreaming, llmPath } = target;
  const extracts = target.extract === undefined ? {} : { extract: target.extract };
  const common = { url: `127.0.0.1:${port}`, isStreaming, headers: [], tls: DEFAULT_TLS, ...extracts };
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
