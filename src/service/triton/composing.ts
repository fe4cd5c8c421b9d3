import { RunError } from "../../plan/problem.ts";
import { ResponseObject } from "../response.ts";
import type { ComposingModel } from "../server-counters.ts";
import type { Ask } from "../service.ts";
import type { ModelName, TritonApi } from "./api.ts";
import { hasSequences, hasTextSequenceIds, type TritonModel } from "./model.ts";

/** The models that a model calls: an ensemble's steps, recursively, and the models that the user lists for a BLS model. */
export interface Composition {
  /** Sorted by name, then version. Each model appears once per caller. */
  readonly models: readonly ComposingModel[];
  /** Whether one of them, at any depth, has sequences. */
  readonly hasSequences: boolean;
  /** Whether one of them has sequence ids that are texts. */
  readonly hasTextSequenceIds: boolean;
  /** Whether one of them, at any depth, caches responses. */
  readonly isResponseCacheEnabled: boolean;
}

/**
 * Finds the models that a model calls.
 * @param config the model's configuration
 * @param called models from the user, besides an ensemble's steps
 * @throws RunError if the server does not know one of them, or the model itself is one of them
 */
export async function findComposing(
  api: TritonApi,
  ask: Ask,
  model: Pick<TritonModel, "name">,
  config: unknown,
  called: readonly ModelName[],
): Promise<Composition> {
  for (const { name } of called) {
    if (name !== model.name) continue;
    const message = `composing model '${name}' is the measured model itself`;
    throw new RunError("unsupported", message, { say: "only-called-models" });
  }
  const finder = new ComposingFinder(api, ask);
  const steps = await finder.stepsOf(config);
  const models = await finder.addCalled(called, steps);
  const { hasSequences, hasTextSequenceIds: hasTextIds, isResponseCacheEnabled } = finder;
  return { models, hasSequences, hasTextSequenceIds: hasTextIds, isResponseCacheEnabled };
}

/**
 * Returns the model with the scheduler that follows from its composing models: like in perf_analyzer, it has sequences if one of them
 * has.
 */
export function composeModel(
  model: TritonModel,
  { hasSequences: isComposed, hasTextSequenceIds: isText }: Composition,
): TritonModel {
  const isSequence = isComposed || hasSequences(model);
  const ids = isText ? { hasTextSequenceIds: true } : {};
  return { ...model, ...ids, scheduler: isSequence ? "ensemble-sequence" : "ensemble" };
}

class ComposingFinder {
  hasSequences = false;
  hasTextSequenceIds = false;
  isResponseCacheEnabled = false;
  private readonly api: TritonApi;
  private readonly ask: Ask;
  /** Composing models by name and version; each one is queried once. */
  private readonly found = new Map<string, Promise<ComposingModel>>();
  /** The chain of models whose steps are being read, by the same keys. */
  private readonly path = new Map<string, string>();

  constructor(api: TritonApi, ask: Ask) {
    this.api = api;
    this.ask = ask;
  }

  /** Returns the models of an ensemble's steps; empty for other models. */
  async stepsOf(config: unknown): Promise<ComposingModel[]> {
    const models: ComposingModel[] = [];
    for (const step of ResponseObject.of(config, "model configuration").object("ensemble_scheduling").objects("step")) {
      const version = step.integer("model_version", -1);
      const name = { name: step.string("model_name"), version: version === -1 ? "" : String(version) };
      insert(models, await this.find(name, `config of composing model '${name.name}'`));
    }
    return models;
  }

  async addCalled(called: readonly ModelName[], models: ComposingModel[]): Promise<ComposingModel[]> {
    for (const name of called) {
      const version = name.version === "" ? "" : ` version ${name.version}`;
      try {
        insert(models, await this.find(name, `config of composing model '${name.name}'${version}`));
      } catch (error) {
        if (!(error instanceof RunError) || error.code !== "refused") throw error;
        throw new RunError("refused", error.text, { say: "load-called-models" });
      }
    }
    return models;
  }

  private find(name: ModelName, what: string): Promise<ComposingModel> {
    const key = keyOf(name);
    if (this.path.has(key)) throw this.toCycleError(key);
    let finding = this.found.get(key);
    if (finding === undefined) {
      finding = this.read(name, what);
      this.found.set(key, finding);
    }
    return finding;
  }

  private async read(name: ModelName, what: string): Promise<ComposingModel> {
    const config = await this.ask(this.api.config(name), what);
    const fields = ResponseObject.of(config, what);
    if (fields.has("sequence_batching")) this.hasSequences = true;
    if (hasTextSequenceIds(fields)) this.hasTextSequenceIds = true;
    if (fields.object("response_cache").boolean("enable")) this.isResponseCacheEnabled = true;
    const key = keyOf(name);
    this.path.set(key, name.name);
    const composing = await this.stepsOf(config);
    this.path.delete(key);
    return { ...name, composing };
  }

  private toCycleError(key: string): RunError {
    const callers = [...this.path.keys()];
    const names = [...this.path.values()].slice(callers.indexOf(key));
    const message = `ensemble '${names[0]}' contains itself: ${[...names, names[0]].join(" calls ")}`;
    return new RunError("refused", message, "Correct the steps in the ensemble's configuration on the server.");
  }
}

function insert(models: ComposingModel[], model: ComposingModel): void {
  const key = keyOf(model);
  for (const [index, other] of models.entries()) {
    const otherKey = keyOf(other);
    if (otherKey === key) return;
    if (otherKey < key) continue;
    models.splice(index, 0, model);
    return;
  }
  models.push(model);
}

/** Names cannot contain a line feed, so keys sort by name first. */
function keyOf({ name, version }: ModelName): string {
  return `${name}\n${version}`;
}
