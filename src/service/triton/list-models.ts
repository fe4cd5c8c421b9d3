import { RunError } from "../../plan/problem.ts";
import { AnswerObject } from "../answer.ts";
import { unlessMissing } from "../missing-call.ts";
import type { Ask, ListedModel } from "../service.ts";
import type { TritonApi } from "./api.ts";
import { readModel } from "./model.ts";

const DECOUPLED = "it is decoupled: write a scenario with streaming: true over gRPC";
const LIST = "the list of models";
/** MLServer writes `State.READY` over gRPC. */
const READY = /^(?:State\.)?READY$/;

/**
 * Queries the models that are ready, each once, with their inputs and outputs.
 * @param named the model that the user named; empty: none. It is listed alone when the server has no list
 * @throws RunError when the server has no list and no model is named
 */
export async function listTritonModels(api: TritonApi, ask: Ask, named: string): Promise<ListedModel[]> {
  const models: ListedModel[] = [];
  for (const name of [...(await findNames(api, ask, named))].sort()) {
    const asked = { name, version: "" };
    const [metadata, config] = await Promise.all([
      ask(api.metadata(asked), `metadata of ${name}`),
      unlessMissing(ask(api.config(asked), `config of ${name}`)),
    ]);
    const model = readModel(metadata, config ?? {}, "");
    models.push({ ...model, refusal: model.isDecoupled ? DECOUPLED : "" });
  }
  return models;
}

/** Only Triton and few others have the repository extension with its index; KServe's ModelServer lists names over HTTP. */
async function findNames(api: TritonApi, ask: Ask, named: string): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const index = await unlessMissing(ask(api.index(), LIST));
  if (index !== undefined) {
    for (const entry of AnswerObject.of(index, LIST).objects("models")) {
      const state = entry.string("state");
      if (READY.test(state) || state === "") names.add(entry.string("name"));
    }
    return names;
  }
  const list = api.names === undefined ? undefined : await unlessMissing(ask(api.names(), LIST));
  if (list !== undefined) return new Set(AnswerObject.of(list, LIST).strings("models"));
  if (named !== "") return names.add(named);
  throw new RunError("unsupported", "the server does not list its models", "Name the model.");
}
