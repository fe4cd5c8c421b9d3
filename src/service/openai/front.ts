import type { OpenAiTargetPlan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { PAYLOAD } from "../payload-tensor.ts";
import type { Service, ServiceFront } from "../service.ts";
import { createPayloadCodec, RESPONSE } from "./codec.ts";

/** A target's service. Nothing is asked of the server: what it takes, the payloads say. */
export function createOpenAiFront(target: OpenAiTargetPlan): ServiceFront {
  const refuse = (what: string) => async (): Promise<never> => {
    throw new RunError("unsupported", `servers that take payloads have no ${what}`, "Leave it out.");
  };
  return {
    readStreamed: undefined,
    setUp: async () => describeService(target),
    traceQueries: refuse("trace settings"),
    listModels: async (ask) => (await import("./list-models.ts")).listOpenAiModels(ask),
  };
}

function describeService(target: OpenAiTargetPlan): Service {
  const { model, endpoint, isStreaming } = target;
  const text = (name: string) =>
    ({ name, datatype: "BYTES", shape: [1], isOptional: false, isShapeTensor: false }) as const;
  return {
    model: { name: model, version: "", maxBatchSize: 0, inputs: [text(PAYLOAD)], outputs: [text(RESPONSE)] },
    codec: createPayloadCodec(withoutLeadingSlashes(endpoint), isStreaming),
    wire: "http",
    batchSize: 1,
    isSequence: false,
    isDecoupled: false,
    isResponseCacheEnabled: false,
    isOwnResponseCacheEnabled: false,
    composing: [],
    conversations: async () => {
      const { PayloadConversation } = await import("./conversation.ts");
      return () => new PayloadConversation(endpoint);
    },
    statistics: async () => undefined,
    warnings: [],
  };
}

function withoutLeadingSlashes(path: string): string {
  return path.replace(/^\/+/, "");
}
