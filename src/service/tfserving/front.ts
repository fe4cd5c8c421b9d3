import type { Text } from "../../plan/messages.ts";
import { RunError } from "../../plan/problem.ts";
import { decodeMessage, encodeMessage, formatText, type MessageSpec, type ProtoObject } from "../protobuf/message.ts";
import { type Ask, type Query, SEPARATE_REQUESTS, type Service, type ServiceFront } from "../service.ts";
import { createPredictCodec, predictionPath, toModelSpec } from "./codec.ts";
import * as messages from "./messages.ts";
import { readModel } from "./model.ts";
import type { TfServingTargetPlan } from "./target.ts";

const STATUS_PATH = "/tensorflow.serving.ModelService/GetModelStatus";
const AVAILABLE = 30;

/**
 * Creates the front of a TensorFlow Serving target. This is a separate module, loaded on demand, because of its message
 * tables.
 */
export function createTfServingFront(target: TfServingTargetPlan): ServiceFront {
  return {
    setUp: (ask) => setUp(target, ask),
    listModels: async (ask) => {
      if (target.model === "")
        throw new RunError("unsupported", "TensorFlow Serving has no call that lists its models", "Name the model.");
      return [{ ...readModel(await askMetadata(target, ask), target), refusal: "" }];
    },
  };
}

async function setUp(target: TfServingTargetPlan, ask: Ask): Promise<Service> {
  const metadata = await askMetadata(target, ask);
  const model = readModel(metadata, target);
  return {
    model,
    codec: createPredictCodec(target, model),
    wire: "grpc",
    ...SEPARATE_REQUESTS,
    batchSize: target.batchSize,
    shapes: target.shapes,
    warnings: [],
  };
}

/** Queries the model's signatures. An error names the existing versions. */
async function askMetadata(target: TfServingTargetPlan, ask: Ask): Promise<unknown> {
  const request = { model_spec: toModelSpec(target), metadata_field: ["signature_def"] };
  const payload = encodeMessage(messages.METADATA_REQUEST, request);
  try {
    return await ask(
      toQuery(predictionPath("GetModelMetadata"), payload, messages.METADATA_RESPONSE),
      "model metadata",
    );
  } catch (error) {
    if (!(error instanceof RunError) || error.code !== "refused") throw error;
    throw error.reword(error.text, await explainModel(target, ask));
  }
}

/** Describes the versions of a model that the server rejects. */
async function explainModel({ model, modelVersion }: TfServingTargetPlan, ask: Ask): Promise<Text> {
  const payload = encodeMessage(messages.STATUS_REQUEST, { model_spec: { name: model } });
  try {
    const status = (await ask(toQuery(STATUS_PATH, payload, messages.STATUS_RESPONSE), "")) as ProtoObject;
    const rows = (status["model_version_status"] ?? []) as ProtoObject[];
    const versions = rows.map(({ version = 0, state }) =>
      state === AVAILABLE ? String(version) : `${version} (not available)`,
    );
    const label = modelVersion === "" || /^\d+$/.test(modelVersion) ? "" : " Text that is not a number is a label.";
    return { say: "give-version", model, versions: versions.join(", "), label };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return `Check the model's name: the server has no model '${model}', and it has no call that lists its models.`;
  }
}

function toQuery(path: string, payload: Uint8Array, response: MessageSpec): Query {
  return {
    request: { path, method: "POST", headers: [], payload },
    read: (bytes) => decodeMessage(response, bytes),
    format: (bytes) => formatText(response, decodeMessage(response, bytes)),
  };
}
