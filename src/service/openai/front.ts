import { isObject, parseJson } from "../../plan/objects.ts";
import { decoder } from "../../runtime/text.ts";
import { ProtocolError } from "../../transport/failure.ts";
import { createResponseReader } from "../response-reader.ts";
import {
  type Ask,
  type ListedModel,
  modelNamed,
  type Query,
  SEPARATE_REQUESTS,
  type Service,
  type ServiceFront,
} from "../service.ts";
import { createPayloadCodec } from "./codec.ts";
import { PayloadConversation } from "./conversation.ts";
import { splitEvents } from "./events.ts";
import { detectResponseKind, type ResponseKind } from "./response-kind.ts";
import { readResponse } from "./response-text.ts";
import { type OpenAiTargetPlan, requestPathOf } from "./target.ts";

/** Creates a target's service, which sends no queries because the payloads define what the server accepts. */
export function createOpenAiFront(target: OpenAiTargetPlan): ServiceFront {
  return {
    setUp: async () => describeService(target),
    listModels: listOpenAiModels,
  };
}

function describeService(target: OpenAiTargetPlan): Service {
  const { model, endpoint, isStreaming } = target;
  return {
    model: modelNamed(model),
    codec: createPayloadCodec(requestPathOf(endpoint), isStreaming),
    wire: "http",
    ...SEPARATE_REQUESTS,
    readsFirst: isStreaming,
    conversations: async () => {
      const endMarks = { isSeen: false };
      return () => new PayloadConversation(endpoint, endMarks);
    },
    warnings: [],
    responseReader: createResponseReader(
      target,
      (bodies) => joinResponse(endpoint, bodies),
      (bodies) => kindOfResponse(endpoint, bodies),
    ),
  };
}

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
    .map((named) => ({ ...modelNamed(named.name), ...named, refusal: "" }));
}

type NamedModel = Pick<ListedModel, "name" | "tokenizer">;

/**
 * Reads `{"data": [{"id": …, "root": …, "parent": …}]}`; undefined without such a list. vLLM and SGLang name the files of a model as its
 * root; an adapter uses the files of its parent.
 */
function readData(text: string): NamedModel[] | undefined {
  const response = parseJson(text);
  const data = isObject(response) ? response["data"] : undefined;
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((model): NamedModel[] => {
    if (!isObject(model) || typeof model["id"] !== "string") return [];
    const files = model["parent"] ?? model["root"];
    return [{ name: model["id"], ...(typeof files === "string" && files !== "" ? { tokenizer: files } : {}) }];
  });
}

/** Returns the kind of a response, by the path of the request or, if that does not determine it, by the words in the response. */
function kindOfResponse(endpoint: string, bodies: readonly Uint8Array[]): ResponseKind {
  const [first = new Uint8Array(0)] = bodies;
  return detectResponseKind("openai", endpoint, "", decoder.decode(first)) ?? "custom";
}

/**
 * Returns a response as plain data. A JSON body is unchanged, except that these fields are added if its top level lacks them; a stream of
 * events has only these fields: `text`, its output in one piece; `reasoning`; `finish_reason`; and `usage`, with the names of the API.
 * @throws Error for a response that is neither JSON nor a stream of events
 */
function joinResponse(endpoint: string, bodies: readonly Uint8Array[]): unknown {
  const texts = bodies.map((body) => decoder.decode(body));
  const events = splitEvents(texts).flatMap(({ data }) => parseJson(data) ?? []);
  const [first] = events;
  if (first === undefined) throw new Error("the response is neither JSON nor a stream of events, which extract reads");
  const { output, reasoning, finishReason } = readResponse(kindOfResponse(endpoint, bodies), texts);
  const joined = {
    text: output.map(({ text }) => text).join(""),
    reasoning: reasoning.map(({ text }) => text).join(""),
    finish_reason: finishReason ?? null,
    usage: joinUsage(events) ?? null,
  };
  return /^\s*\{/.test(texts[0] ?? "") && isObject(first) ? { ...joined, ...first } : joined;
}

/**
 * Joins the token counts that the events of a stream report, because some servers report in parts. Later reports take
 * precedence.
 */
function joinUsage(events: readonly unknown[]): object | undefined {
  const found = events.filter(isObject).flatMap((event) => {
    const places = [event, event["response"], event["message"]].filter(isObject);
    return places.map((place) => place["usage"]).filter(isObject);
  });
  return found.length === 0 ? undefined : Object.assign({}, ...found);
}
