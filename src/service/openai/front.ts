import type { OpenAiTargetPlan } from "../../plan/plan.ts";
import { PAYLOAD } from "../payload-tensor.ts";
import type { Service, ServiceFront } from "../service.ts";
import { createPayloadCodec, RESPONSE } from "./codec.ts";
import { withoutLeadingSlashes } from "./target.ts";

/** A target's service. Nothing is asked of the server: what it takes, the payloads say. */
export function createOpenAiFront(target: OpenAiTargetPlan): ServiceFront {
  return {
    setUp: async () => describeService(target),
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
    readsFirst: isStreaming,
    conversations: async () => {
      const { PayloadConversation } = await import("./conversation.ts");
      return () => new PayloadConversation(endpoint);
    },
    warnings: [],
  };
}
