import { AnswerObject } from "../answer.ts";
import { unlessMissing } from "../missing-call.ts";
import type { Ask, ListedModel } from "../service.ts";
import type { TritonApi } from "./api.ts";
import { readModel } from "./model.ts";

const DECOUPLED = "it is decoupled: write a scenario with streaming: true over gRPC";

/** Queries the models that are ready, each once, with their inputs and outputs. */
export async function listTritonModels(api: TritonApi, ask: Ask): Promise<ListedModel[]> {
  const index = AnswerObject.of(await ask(api.index(), "the list of models"), "the list of models");
  const names = new Set<string>();
  for (const entry of index.objects("models")) {
    const state = entry.string("state");
    if (state === "READY" || state === "") names.add(entry.string("name"));
  }
  const models: ListedModel[] = [];
  for (const name of [...names].sort()) {
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
