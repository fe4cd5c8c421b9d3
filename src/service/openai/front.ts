import { ProtocolError } from "../../transport/failure.ts";
import type { Ask, ListedModel, Query, Service, ServiceFront } from "../service.ts";
import { createPayloadCodec } from "./codec.ts";
import { PayloadConversation } from "./conversation.ts";
import { isObject } from "./response-parts.ts";
import { type OpenAiTargetPlan, withoutLeadingSlashes } from "./target.ts";

/** Creates a target's service without queries, because payloads define what the server takes. */
export function createOpenAiFront(target: OpenAiTargetPlan): ServiceFront {
  return {
    setUp: async () => describeService(target),
    listModels: listOpenAiModels,
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
      const endMarks = { isSeen: false };
      return () => new PayloadConversation(endpoint, endMarks);
    },
    warnings: [],
  };
}

const decoder = new TextDecoder();

/** Queries all models. */
const MODELS: Query = {
  request: { path: "/v1/models", method: "GET", headers: [], payload: new Uint8Array(0) },
  read: (body) => {
    const data = readData(decoder.decode(body));
    if (data === undefined) throw new ProtocolError("the response is not a list of models");
    return data;
  },
  format: (body) => decoder.decode(body),
};

/** Queries an OpenAI server for its models, without their inputs, which it does not report. */
async function listOpenAiModels(ask: Ask): Promise<ListedModel[]> {
  const names = (await ask(MODELS, "the list of models")) as string[];
  return names.toSorted().map((name) => ({ name, version: "", maxBatchSize: 0, inputs: [], outputs: [], refusal: "" }));
}

/** Returns the names in `{"data": [{"id": …}]}`; undefined without such a list. */
function readData(text: string): string[] | undefined {
  let response: unknown;
  try {
    response = JSON.parse(text);
  } catch {
    return undefined;
  }
  const data = isObject(response) ? response["data"] : undefined;
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((model) => (isObject(model) && typeof model["id"] === "string" ? [model["id"]] : []));
}
