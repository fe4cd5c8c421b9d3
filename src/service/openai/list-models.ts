import { ProtocolError } from "../../transport/failure.ts";
import type { Ask, ListedModel, Query } from "../service.ts";
import { isObject } from "./answer-parts.ts";

const decoder = new TextDecoder();

/** Queries all models. */
const MODELS: Query = {
  request: { path: "/v1/models", method: "GET", headers: [], payload: new Uint8Array(0) },
  read: (body) => {
    const data = readData(decoder.decode(body));
    if (data === undefined) throw new ProtocolError("the answer is not a list of models");
    return data;
  },
  format: (body) => decoder.decode(body),
};

/** Queries an OpenAI server for its models, without their inputs, which it does not report. */
export async function listOpenAiModels(ask: Ask): Promise<ListedModel[]> {
  const names = (await ask(MODELS, "the list of models")) as string[];
  return names.toSorted().map((name) => ({ name, version: "", maxBatchSize: 0, inputs: [], outputs: [], refusal: "" }));
}

/** Returns the names in `{"data": [{"id": …}]}`; undefined without such a list. */
function readData(text: string): string[] | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  const data = isObject(answer) ? answer["data"] : undefined;
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((model) => (isObject(model) && typeof model["id"] === "string" ? [model["id"]] : []));
}
