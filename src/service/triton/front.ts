import type { Text } from "../../plan/messages.ts";
import { defined } from "../../plan/objects.ts";
import { RunError } from "../../plan/problem.ts";
import { listNames } from "../../plan/show-value.ts";
import { ProtocolError } from "../../transport/failure.ts";
import { unlessMissing } from "../missing-call.ts";
import { ResponseObject } from "../response.ts";
import { createResponseReader } from "../response-reader.ts";
import { toTensorData } from "../scenario-response.ts";
import type { ServerCounters } from "../server-counters.ts";
import type {
  Ask,
  ListedModel,
  Service,
  ServiceFront,
  StatisticsQuery,
  TraceQueries,
  TraceValues,
} from "../service.ts";
import type { FrontEnd, ModelName, TritonApi } from "./api.ts";
import { type Composition, composeModel, findComposing } from "./composing.ts";
import { httpApi, httpQuery } from "./http-api.ts";
import { createHttpCodec } from "./http-codec.ts";
import { hasSequences, readModel, type TritonModel } from "./model.ts";
import { type TritonTargetPlan, wireOf } from "./target.ts";

/** Opens Triton over the network. The gRPC front end is loaded on demand, because creating its message tables takes time. */
export async function openTritonFront(target: TritonTargetPlan): Promise<ServiceFront> {
  if (target.protocol === "http") return toServiceFront(target, httpFrontEnd(target));
  return toServiceFront(target, (await import("./grpc-front-end.ts")).createGrpcFrontEnd(target));
}

export function toServiceFront(target: TritonTargetPlan, front: FrontEnd): ServiceFront {
  return {
    readStreamed: target.isStreaming ? front.readStreamed : undefined,
    setUp: (ask) => setUp(target, front, ask),
    ...defined({ traceQueries: front.traceQueries }),
    listModels: (ask) => listTritonModels(front.api, ask, target.model),
  };
}

async function setUp(
  target: TritonTargetPlan,
  { api, createCodec, isInProcess }: FrontEnd,
  ask: Ask,
): Promise<Service> {
  const name = { name: target.model, version: target.modelVersion };
  // Query in parallel for a fast start. If both fail, the failure of the metadata is reported.
  const metadataResponse = ask(api.metadata(name), "model metadata");
  const configResponse = ask(api.config(name), "model config");
  configResponse.catch(() => {});
  const metadata = await metadataResponse.catch((error: unknown) => refuseModel(error, api, ask));
  const response = await unlessMissing(configResponse);
  const config = response ?? {};
  const bare = response === undefined ? await describeBareServer(target, api, ask) : undefined;
  const ownModel = readModel(metadata, config, target.modelVersion);
  const composing = await findCalled(target, ownModel, config, api, ask);
  const model = composing.model;
  refuseUnsupported(model, target, isInProcess === true);
  let statistics: Promise<StatisticsQuery | undefined> | undefined;
  return {
    model,
    codec: createCodec(model, bare?.needsJson === true),
    wire: wireOf(target),
    batchSize: target.batchSize,
    isSequence: hasSequences(model),
    isDecoupled: model.isDecoupled,
    isResponseCacheEnabled: model.isResponseCacheEnabled || composing.isResponseCacheEnabled,
    isOwnResponseCacheEnabled: model.isResponseCacheEnabled,
    composing: composing.models,
    statistics: () => {
      if (bare?.hasStatistics === false) return Promise.resolve(undefined);
      statistics ??= findStatistics(api, composing.models.length > 0 ? undefined : name, ask);
      return statistics;
    },
    ...(target.sharedMemory === "none"
      ? {}
      : {
          sharedMemory: {
            kind: target.sharedMemory,
            outputBytes: target.outputSharedMemoryBytes,
            ...api.sharedMemory,
          },
        }),
    shapes: target.shapes,
    responseReader: createResponseReader(target, (_bodies, { tensors }) => {
      const responses = tensors().map(toTensorData);
      return target.isStreaming ? responses : responses.at(-1);
    }),
    warnings: [...warningsOf(target), ...(bare?.warnings ?? [])],
  };
}

function httpFrontEnd(target: TritonTargetPlan): FrontEnd {
  const { inputTensorFormat, outputTensorFormat, binaryTensors = [] } = target;
  return {
    api: httpApi,
    createCodec: (model, isJson) =>
      createHttpCodec(model, {
        inputFormat: isJson && !binaryTensors.includes("input") ? "json" : inputTensorFormat,
        outputFormat: isJson && !binaryTensors.includes("output") ? "json" : outputTensorFormat,
      }),
    traceQueries: async () => httpTrace,
  };
}

async function findCalled(
  { composingModels }: TritonTargetPlan,
  model: TritonModel,
  config: unknown,
  api: TritonApi,
  ask: Ask,
): Promise<Pick<Composition, "models" | "isResponseCacheEnabled"> & { readonly model: TritonModel }> {
  if (composingModels.length === 0 && model.scheduler !== "ensemble" && model.scheduler !== "ensemble-sequence")
    return { model, models: [], isResponseCacheEnabled: false };
  const found = await findComposing(api, ask, model, config, composingModels);
  return { ...found, model: composeModel(model, found) };
}

/** Only the statistics depend on the server's extensions, so only they wait for them. @param name undefined: all models */
async function findStatistics(
  api: TritonApi,
  name: ModelName | undefined,
  ask: Ask,
): Promise<StatisticsQuery | undefined> {
  const extensions = ResponseObject.of(await ask(api.server(), "server metadata"), "server metadata").strings(
    "extensions",
  );
  return extensions.includes("statistics") ? { query: api.statistics(name), read: readStatistics } : undefined;
}

function warningsOf(target: TritonTargetPlan): Text[] {
  const isGrpc = target.protocol === "grpc";
  if (!isGrpc && target.sharedMemory === "none") return [];
  const say = isGrpc ? "json-over-grpc" : "json-in-shared-memory";
  const warnings: Text[] = [];
  for (const [at, format] of [
    ["target.inputTensorFormat", target.inputTensorFormat],
    ["target.outputTensorFormat", target.outputTensorFormat],
  ] as const) {
    if (format === "json") warnings.push({ say, at });
  }
  return warnings;
}

/** Rejects models that this version would measure wrongly. */
function refuseUnsupported(
  model: TritonModel,
  { batchSize, isStreaming }: TritonTargetPlan,
  isInProcess: boolean,
): void {
  if (model.isDecoupled && !isStreaming) {
    const carrier = isInProcess ? "streaming allows" : "gRPC streams carry";
    const message = `model '${model.name}' is decoupled: its requests may have several responses, which only ${carrier}`;
    const at = isInProcess ? "target.isStreaming=in-process" : "target.isStreaming";
    throw new RunError("unsupported", message, { say: "use-setting", at });
  }
  if (model.maxBatchSize === 0 && batchSize > 1) {
    const message = "can not specify batch size > 1 as the model does not support batching";
    throw new RunError("unsupported", message, `Model '${model.name}' has no batch dimension: use a batch size of 1.`);
  }
  if (hasSequences(model) && batchSize > 1) {
    const message = "can not specify batch size > 1 when using a sequence model";
    throw new RunError(
      "unsupported",
      message,
      `Triton takes the requests of model '${model.name}' one by one: use a batch size of 1.`,
    );
  }
}

/** Capabilities of a KServe server without Triton's extensions, such as MLServer. */
interface BareServer {
  readonly hasStatistics: boolean;
  /** Whether the server does not list the extension for binary tensors. */
  readonly needsJson: boolean;
  /** Features that the run lacks, one sentence each. */
  readonly warnings: readonly string[];
}

const NO_CONFIG =
  "the server does not report the model's configuration: the model is measured without batches and sequences.";
const NO_STATISTICS = "the server has no statistics: its own times are not reported.";
const NEEDS_JSON = "the server does not list the extension binary_tensor_data: tensors are";

const JSON_TENSORS = [
  ["input", "sent"],
  ["output", "requested"],
] as const;

/** Queries a server without model configurations for its capabilities. */
async function describeBareServer(
  { protocol, binaryTensors = [] }: Pick<TritonTargetPlan, "protocol" | "binaryTensors">,
  api: TritonApi,
  ask: Ask,
): Promise<BareServer> {
  const response = await unlessMissing(ask(api.server(), "server metadata"));
  // Without a list of extensions, try binary tensors: the response shows whether the server supports them.
  const extensions =
    response === undefined ? undefined : ResponseObject.of(response, "server metadata").strings("extensions");
  const hasStatistics = extensions?.includes("statistics") === true;
  const needsJson = protocol === "http" && extensions?.includes("binary_tensor_data") === false;
  const warnings = [NO_CONFIG, ...(hasStatistics ? [] : [NO_STATISTICS])];
  const asJson = JSON_TENSORS.filter(([format]) => !binaryTensors.includes(format)).map(([, verb]) => verb);
  if (needsJson && asJson.length > 0) warnings.push(`${NEEDS_JSON} ${asJson.join(" and ")} as JSON.`);
  return { hasStatistics, needsJson, warnings };
}

const TRACE_PATH = "/v2/trace/setting";

/** Triton's trace extension over HTTP. */
export const httpTrace: TraceQueries = {
  read: () => httpQuery("GET", TRACE_PATH),
  write: (values) => httpQuery("POST", TRACE_PATH, toBody(values)),
  parse: parseSettings,
};

/** Only the levels are a list; all other values are strings. */
function toBody(values: TraceValues): string {
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) body[name] = name === "trace_level" ? value : value[0];
  return JSON.stringify(body);
}

function parseSettings(response: unknown): TraceValues {
  if (typeof response !== "object" || response === null || Array.isArray(response))
    throw new ProtocolError("trace settings are not an object");
  const values: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries(response))
    values[name] = (Array.isArray(value) ? value : [value]).map(String);
  return values;
}

const DECOUPLED = "it is decoupled: write a scenario with streaming: true over gRPC";
const LIST = "the list of models";
/** MLServer writes `State.READY` over gRPC. */
const READY = /^(?:State\.)?READY$/;

/**
 * Queries the ready models, each once, with their inputs and outputs.
 * @param named the model that the user named; empty: none. It is the only one listed if the server has no list
 * @throws RunError if the server has no list and no model is named
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

/** @throws the server's error for a missing model, with the names of its models if it lists them */
async function refuseModel(error: unknown, api: TritonApi, ask: Ask): Promise<never> {
  if (!(error instanceof RunError) || error.facts.failure?.status === undefined) throw error;
  const names = await findNames(api, ask, "").catch(() => []);
  // Do not mention that the query failed: otherwise the diagnosis would check which other kind of server this is.
  throw [...names].length === 0
    ? error
    : new RunError("refused", error.text, `The server has ${listNames([...names].sort())}.`);
}

/**
 * Only Triton and a few other servers have the repository extension with its index; KServe's ModelServer lists names over
 * HTTP.
 */
async function findNames(api: TritonApi, ask: Ask, named: string): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const index = await unlessMissing(ask(api.index(), LIST));
  if (index !== undefined) {
    for (const entry of ResponseObject.of(index, LIST).objects("models")) {
      const state = entry.string("state");
      if (READY.test(state) || state === "") names.add(entry.string("name"));
    }
    return names;
  }
  const list = api.names === undefined ? undefined : await unlessMissing(ask(api.names(), LIST));
  if (list !== undefined) return new Set(ResponseObject.of(list, LIST).strings("models"));
  if (named !== "") return names.add(named);
  throw new RunError("unsupported", "the server does not list its models", "Name the model.");
}

/** Reads Triton's statistics, one entry per model version. @throws RunError if they violate the protocol */
export function readStatistics(data: unknown): ServerCounters[] {
  const counters: ServerCounters[] = [];
  for (const model of ResponseObject.of(data, "model statistics").objects("model_stats"))
    counters.push(readCounters(model));
  return counters;
}

function readCounters(model: ResponseObject): ServerCounters {
  const stats = model.object("inference_stats");
  const [success, fail, queue] = [stats.object("success"), stats.object("fail"), stats.object("queue")];
  const [input, infer, output] = [
    stats.object("compute_input"),
    stats.object("compute_infer"),
    stats.object("compute_output"),
  ];
  const [hit, miss] = [stats.object("cache_hit"), stats.object("cache_miss")];
  return {
    name: model.string("name"),
    version: model.string("version"),
    inferenceCount: model.integer("inference_count", 0),
    executionCount: model.integer("execution_count", 0),
    successCount: success.integer("count", 0),
    successNs: success.integer("ns", 0),
    failCount: fail.integer("count", 0),
    queueCount: queue.integer("count", 0),
    queueNs: queue.integer("ns", 0),
    computeInputCount: input.integer("count", 0),
    computeInputNs: input.integer("ns", 0),
    computeInferCount: infer.integer("count", 0),
    computeInferNs: infer.integer("ns", 0),
    computeOutputCount: output.integer("count", 0),
    computeOutputNs: output.integer("ns", 0),
    cacheHitCount: hit.integer("count", 0),
    cacheHitNs: hit.integer("ns", 0),
    cacheMissCount: miss.integer("count", 0),
    cacheMissNs: miss.integer("ns", 0),
  };
}
