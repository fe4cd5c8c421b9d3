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
  const models = (await ask(MODELS, "the list of models")) as NamedModel[];
  return models
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((named) => ({ ...named, version: "", maxBatchSize: 0, inputs: [], outputs: [], refusal: "" }));
}

/** A model of the list. */
type NamedModel = Pick<ListedModel, "name" | "tokenizer">;

/**
 * Reads `{"data": [{"id": …, "root": …, "parent": …}]}`; undefined without such a list. vLLM and SGLang name the files of a model as its root;
 * an adapter has those of its parent.
 */
function readData(text: string): NamedModel[] | undefined {
  let response: unknown;
  try {
    response = JSON.parse(text);
  } catch {
    return undefined;
  }
  const data = isObject(response) ? response["data"] : undefined;
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((model): NamedModel[] => {
    if (!isObject(model) || typeof model["id"] !== "string") return [];
    const files = model["parent"] ?? model["root"];
    return [{ name: model["id"], ...(typeof files === "string" && files !== "" ? { tokenizer: files } : {}) }];
  });
}
