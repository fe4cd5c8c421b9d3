import type { Service, ServiceFront } from "../service.ts";
import { createPayloadCodec } from "./codec.ts";
import { type OpenAiTargetPlan, withoutLeadingSlashes } from "./target.ts";

/** Creates a target's service without queries, because payloads define what the server takes. */
export function createOpenAiFront(target: OpenAiTargetPlan): ServiceFront {
  return {
    setUp: async () => describeService(target),
    listModels: async (ask) => (await import("./list-models.ts")).listOpenAiModels(ask),
  };
}

function describeService(target: OpenAiTargetPlan): Service {
  const { model, endpoint, isStreaming } = target;
  return {
    model: { name: model, version: "", maxBatchSize: 0, inputs: [], outputs: [] },
    codec: createPayloadCodec(withoutLeadingSlashes(endpoint), isStreaming),
    wire: "http",
    batchSize: 1,
    isSequence: false,
    isDecoupled: false,
    readsFirst: isStreaming,
    conversations: async () => {
      const { PayloadConversation } = await import("./conversation.ts");
      const endMarks = { isSeen: false };
      return () => new PayloadConversation(endpoint, endMarks);
    },
    warnings: [],
  };
}
