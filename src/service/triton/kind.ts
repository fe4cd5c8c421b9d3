import { problem, RunError } from "../../plan/problem.ts";
import { setting } from "../../plan/setting-names.ts";
import { AnswerObject } from "../answer.ts";
import { unlessMissing } from "../missing-call.ts";
import { describeServer, registerServerSecrets, serverUrls } from "../server-target.ts";
import type { Ask, Service, ServiceFront, ServiceKind, StatisticsQuery, Wire } from "../service.ts";
import type { FrontEnd, ModelName, TritonApi } from "./api.ts";
import type { BareServer } from "./bare-server.ts";
import type { Composition } from "./composing.ts";
import { httpApi } from "./http-api.ts";
import { createHttpCodec } from "./http-codec.ts";
import { readModel, type TritonModel } from "./model.ts";
import { kserveApi } from "./probes.ts";
import { readStatistics } from "./statistics.ts";
import { type TritonTargetPlan, tritonTargetSchema } from "./target.ts";

export const tritonKind: ServiceKind<TritonTargetPlan> = {
  schema: tritonTargetSchema,
  address: (target) => ({
    url: target.url,
    wire: wireOf(target),
    defaultPort: target.protocol === "http" ? 8000 : 8001,
    headers: target.headers,
    ...(target.compression === "none" ? {} : { compression: target.compression }),
  }),
  urls: serverUrls,
  describe: describeServer,
  takes: () => "tensors",
  exported: () => ({ serviceKind: "triton", endpoint: "" }),
  check: ({ sharedMemory, moreUrls = [] }) =>
    sharedMemory === "none" || moreUrls.length === 0
      ? []
      : [
          problem(
            "unsupported",
            setting("target.url"),
            "shared memory works with one server only",
            "Give one address.",
          ),
        ],
  registerSecrets: registerServerSecrets,
  path: () => "v2",
  server: "a KServe v2 server",
  api: kserveApi,
  open: (target) => (target.protocol === "http" ? toServiceFront(target, httpFrontEnd(target)) : openGrpc(target)),
};

async function openGrpc(target: TritonTargetPlan): Promise<ServiceFront> {
  return toServiceFront(target, (await import("./grpc-front-end.ts")).createGrpcFrontEnd(target));
}

/** Returns the front of a model on Triton, over any of its front ends. */
export function toServiceFront(target: TritonTargetPlan, front: FrontEnd): ServiceFront {
  return {
    readStreamed: target.isStreaming ? front.readStreamed : undefined,
    setUp: (ask) => setUp(target, front, ask),
    ...(front.traceQueries === undefined ? {} : { traceQueries: front.traceQueries }),
    listModels: async (ask) => (await import("./list-models.ts")).listTritonModels(front.api, ask, target.model),
  };
}

function wireOf(target: Pick<TritonTargetPlan, "protocol" | "isStreaming">): Wire {
  if (target.protocol === "http") return "http";
  return target.isStreaming ? "grpc-stream" : "grpc";
}

async function setUp(
  target: TritonTargetPlan,
  { api, createCodec, isInProcess }: FrontEnd,
  ask: Ask,
): Promise<Service> {
  const name = { name: target.model, version: target.modelVersion };
  // Query in parallel for a fast start. When both fail, the metadata's failure is reported.
  const metadataAnswer = ask(api.metadata(name), "model metadata");
  const configAnswer = ask(api.config(name), "model config");
  configAnswer.catch(() => {});
  const metadata = await metadataAnswer;
  const answer = await unlessMissing(configAnswer);
  const config = answer ?? {};
  const bare = answer === undefined ? await describeBareServer(target, api, ask) : undefined;
  const ownModel = readModel(metadata, config, target.modelVersion);
  const composing = await findComposing(target, ownModel, config, api, ask);
  const model = composing.model;
  refuseUnsupported(model, target, isInProcess === true);
  let statistics: Promise<StatisticsQuery | undefined> | undefined;
  return {
    model,
    codec: createCodec(model, bare?.needsJson === true),
    wire: wireOf(target),
    batchSize: target.batchSize,
    isSequence: model.scheduler === "sequence" || model.scheduler === "ensemble-sequence",
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
    traceQueries: async () => (await import("./http-trace.ts")).httpTrace,
  };
}

/** Loads what is needed for KServe servers other than Triton, which do not report model configurations. */
async function describeBareServer(target: TritonTargetPlan, api: TritonApi, ask: Ask): Promise<BareServer> {
  return (await import("./bare-server.ts")).describeBareServer(target, api, ask);
}

/** Finds the models that a model calls. Loads the code for that only when needed. */
async function findComposing(
  { composingModels }: TritonTargetPlan,
  model: TritonModel,
  config: unknown,
  api: TritonApi,
  ask: Ask,
): Promise<Pick<Composition, "models" | "isResponseCacheEnabled"> & { readonly model: TritonModel }> {
  if (composingModels.length === 0 && model.scheduler !== "ensemble" && model.scheduler !== "ensemble-sequence")
    return { model, models: [], isResponseCacheEnabled: false };
  const { composeModel, findComposing: find } = await import("./composing.ts");
  const found = await find(api, ask, model, config, composingModels);
  return { ...found, model: composeModel(model, found) };
}

/** Only the statistics depend on the server's extensions, so nothing else waits for these. @param name undefined for all models */
async function findStatistics(
  api: TritonApi,
  name: ModelName | undefined,
  ask: Ask,
): Promise<StatisticsQuery | undefined> {
  const extensions = AnswerObject.of(await ask(api.server(), "server metadata"), "server metadata").strings(
    "extensions",
  );
  return extensions.includes("statistics") ? { query: api.statistics(name), read: readStatistics } : undefined;
}

function warningsOf(target: TritonTargetPlan): string[] {
  const isGrpc = target.protocol === "grpc";
  if (!isGrpc && target.sharedMemory === "none") return [];
  const reason = isGrpc
    ? "gRPC, whose tensors are always binary"
    : `${setting("target.sharedMemory")}, where tensors are always binary`;
  const warnings: string[] = [];
  for (const [path, format] of [
    ["target.inputTensorFormat", target.inputTensorFormat],
    ["target.outputTensorFormat", target.outputTensorFormat],
  ] as const) {
    if (format === "json") warnings.push(`${setting(path)} json has no effect with ${reason}.`);
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
    const path = isInProcess ? "target.isStreaming=in-process" : "target.isStreaming";
    throw new RunError("unsupported", message, `Use ${setting(path)}.`);
  }
  if (model.maxBatchSize === 0 && batchSize > 1) {
    const message = "can not specify batch size > 1 as the model does not support batching";
    throw new RunError("unsupported", message, `Model '${model.name}' has no batch dimension: use a batch size of 1.`);
  }
}
