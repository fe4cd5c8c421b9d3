import { NO_BYTES } from "../../runtime/bytes.ts";
import type { InferResponse, TensorCodec } from "../content.ts";
import { expectResponse } from "../expected-response.ts";
import { decodeMessage, encodeMessage, formatText, type ProtoObject } from "../protobuf/message.ts";
import { ProtoReader } from "../protobuf/wire.ts";
import { sampleOutputs } from "../sample-tensors.ts";
import type { ModelInfo } from "../service.ts";
import type { Tensor } from "../tensor.ts";
import { PREDICT_REQUEST, PREDICT_RESPONSE } from "./messages.ts";
import { createPredictChecks } from "./response-check.ts";
import type { TfServingTargetPlan } from "./target.ts";
import { readTensor, toTensorProto } from "./tensor-proto.ts";

/** TensorFlow Serving's inference over gRPC: `PredictionService/Predict`. */

export function predictionPath(method: string): string {
  return `/tensorflow.serving.PredictionService/${method}`;
}

const VERSION = /^\d{1,18}$/;

/** Returns the `ModelSpec` of a target. A version of digits is a number, any other version a label. */
export function toModelSpec({ model, modelVersion }: Pick<TfServingTargetPlan, "model" | "modelVersion">): ProtoObject {
  if (modelVersion === "") return { name: model };
  return VERSION.test(modelVersion)
    ? { name: model, version: { value: BigInt(modelVersion) } }
    : { name: model, version_label: modelVersion };
}

export function createPredictCodec(target: TfServingTargetPlan, model: ModelInfo): TensorCodec {
  const modelSpec = { ...toModelSpec(target), signature_name: target.signatureName };
  return {
    // The protocol has no request ids.
    encode: (tensors) => ({
      path: predictionPath("Predict"),
      method: "POST",
      headers: [],
      payload: encodeMessage(PREDICT_REQUEST, {
        model_spec: modelSpec,
        inputs: tensors.map((tensor) => ({ key: tensor.name, value: toTensorProto(tensor) })),
        output_filter: [...target.outputNames],
      }),
    }),
    responseChecks: (acceptsOthers) =>
      createPredictChecks(acceptsOthers === true ? undefined : expectResponse(model, false)),
    decode: decodeResponse,
    // gRPC failures already have the server's message, from grpc-message.
    explain: (failure) => failure,
    describe: (request) => formatText(PREDICT_REQUEST, decodeMessage(PREDICT_REQUEST, request.payload)),
    sampleResponse: () => {
      const outputs = sampleOutputs(model).map((tensor) => ({ key: tensor.name, value: toTensorProto(tensor) }));
      return { parts: [encodeMessage(PREDICT_RESPONSE, { outputs, model_spec: modelSpec })] };
    },
  };
}

function decodeResponse(body: Uint8Array): InferResponse<ReadonlyMap<string, Tensor>> {
  const outputs = new Map<string, Tensor>();
  const reader = new ProtoReader(body);
  while (reader.next()) {
    if (reader.fieldNumber === 1) addOutput(outputs, reader.message());
    else reader.skip();
  }
  return { outputs, describe: () => formatText(PREDICT_RESPONSE, decodeMessage(PREDICT_RESPONSE, body)) };
}

function addOutput(outputs: Map<string, Tensor>, entry: ProtoReader): void {
  let name = "";
  let message = NO_BYTES as Uint8Array;
  while (entry.next()) {
    if (entry.fieldNumber === 1) name = entry.string();
    else if (entry.fieldNumber === 2) message = entry.bytes();
    else entry.skip();
  }
  const tensor = readTensor(name, message);
  if (tensor !== undefined) outputs.set(name, tensor);
}
