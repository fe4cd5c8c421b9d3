import * as v from "valibot";
import type { TritonTargetPlan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import type { Ask, Service, ServiceKind, Wire } from "../service.ts";
import { createTritonApi, type TritonApi } from "./api.ts";
import { createGrpcCodec, readStreamed } from "./grpc-codec.ts";
import { createHttpCodec } from "./http-codec.ts";
import { check, readModel, type TritonModel } from "./model.ts";
import { readStatistics } from "./statistics.ts";

/** Triton, over HTTP or gRPC. */

const tensorFormat = v.picklist(["binary", "json"], "must be binary or json");
const fileName = v.string();

const targetSchema = v.object({
  kind: v.literal("triton"),
  url: v.pipe(v.string(), v.nonEmpty("must name a server")),
  protocol: v.picklist(["http", "grpc"], "must be http or grpc"),
  model: v.pipe(v.string(), v.nonEmpty("must name a model")),
  modelVersion: v.string(),
  batchSize: v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(1, "must be 1 or more")),
  isStreaming: v.boolean(),
  inputTensorFormat: tensorFormat,
  outputTensorFormat: tensorFormat,
  headers: v.array(v.tuple([v.pipe(v.string(), v.regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, "must be a header name")), v.string()])),
  shapes: v.record(v.string(), v.array(v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(1, "must be 1 or more")))),
  tls: v.object({ isEnabled: v.boolean(), caFile: fileName, certFile: fileName, keyFile: fileName, verify: v.boolean() }),
});

const serverSchema = v.object({ extensions: v.optional(v.array(v.string()), []) });

export const tritonKind: ServiceKind<TritonTargetPlan> = {
  schema: v.pipe(
    targetSchema,
    v.forward(
      v.check((target) => !target.isStreaming || target.protocol === "grpc", "is only possible with gRPC"),
      ["isStreaming"],
    ),
  ),
  address: (target) => ({
    url: target.url,
    wire: wireOf(target),
    defaultPort: target.protocol === "http" ? 8000 : 8001,
    headers: target.headers,
  }),
  setUp,
};

function wireOf(target: Pick<TritonTargetPlan, "protocol" | "isStreaming">): Wire {
  if (target.protocol === "http") return "http";
  return target.isStreaming ? "grpc-stream" : "grpc";
}

async function setUp(target: TritonTargetPlan, ask: Ask): Promise<Service> {
  const api = createTritonApi(target.protocol);
  const name = { name: target.model, version: target.modelVersion };
  const metadata = await ask(api.metadata(name), "model metadata");
  const config = await ask(api.config(name), "model config");
  const model = readModel(metadata, config, target.modelVersion);
  refuseUnsupported(model, target.batchSize);
  const server = check(serverSchema, await ask(api.server(), "server metadata"), "server metadata");
  return {
    model,
    codec:
      target.protocol === "http"
        ? createHttpCodec(model, { inputFormat: target.inputTensorFormat, outputFormat: target.outputTensorFormat })
        : createGrpcCodec(model, { isStreaming: target.isStreaming }),
    wire: wireOf(target),
    readStreamed,
    batchSize: target.batchSize,
    isResponseCacheEnabled: model.isResponseCacheEnabled,
    statistics: server.extensions.includes("statistics") ? statisticsOf(api, name) : undefined,
    warnings: warningsOf(target),
  };
}

function statisticsOf(api: TritonApi, name: { name: string; version: string }): Service["statistics"] {
  return { query: api.statistics(name), read: readStatistics };
}

function warningsOf(target: TritonTargetPlan): string[] {
  if (target.protocol !== "grpc") return [];
  const warnings: string[] = [];
  for (const [flag, format] of [
    ["--input-tensor-format", target.inputTensorFormat],
    ["--output-tensor-format", target.outputTensorFormat],
  ] as const) {
    if (format === "json") warnings.push(`${flag} json has no effect with gRPC, whose tensors are always binary.`);
  }
  return warnings;
}

/** Models that need more than this version can do are refused before any load, never measured wrongly. */
function refuseUnsupported(model: TritonModel, batchSize: number): void {
  if (model.maxBatchSize === 0 && batchSize > 1) {
    throw new RunError(
      "unsupported",
      "can not specify batch size > 1 as the model does not support batching",
      `Model '${model.name}' has no batch dimension: use a batch size of 1.`,
    );
  }
  const kind = model.isDecoupled
    ? "decoupled models"
    : model.scheduler === "sequence" || model.scheduler === "ensemble-sequence"
      ? "sequence models"
      : model.scheduler === "ensemble"
        ? "ensemble models"
        : undefined;
  if (kind === undefined) return;
  throw new RunError("unsupported", `model '${model.name}': ${kind} are not supported yet`, "Measure another model.");
}
