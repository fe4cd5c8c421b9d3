import { encodeMessage, type ProtoObject } from "../../../src/service/protobuf/message.ts";
import * as messages from "../../../src/service/tfserving/messages.ts";
import { DEFAULT_TF_SERVING_TARGET } from "../../../src/service/tfserving/target.ts";
import { GRPC_FAILURES, type GrpcService, grpcServers } from "../../conformance/grpc-service.ts";
import type { ConformanceRow } from "../../conformance/row.ts";

/** TensorFlow Serving's PredictionService: a model with one input and one output of four floats. */

const MODEL = "m";
const SPEC = { name: MODEL, version: { value: 1 } };
const SHAPE = { dim: [{ size: 4 }] };

function info(name: string): ProtoObject {
  return { key: name, value: { name: `${name}:0`, dtype: "DT_FLOAT", tensor_shape: SHAPE } };
}

const METADATA = encodeMessage(messages.METADATA_RESPONSE, {
  model_spec: SPEC,
  metadata: [
    {
      key: "signature_def",
      value: {
        type_url: "type.googleapis.com/tensorflow.serving.SignatureDefMap",
        value: { signature_def: [{ key: "serving_default", value: { inputs: [info("x")], outputs: [info("y")] } }] },
      },
    },
  ],
});

const ANSWER = encodeMessage(messages.PREDICT_RESPONSE, {
  outputs: [{ key: "y", value: { dtype: "DT_FLOAT", tensor_shape: SHAPE, float_val: [1, 2, 3, 4] } }],
  model_spec: SPEC,
});

const ANSWERS: Readonly<Record<string, Uint8Array>> = { GetModelMetadata: METADATA, Predict: ANSWER };

const service: GrpcService = {
  isLoad: (method) => method === "Predict",
  isStream: false,
  answer: (method) => {
    const answer = ANSWERS[method];
    return answer === undefined ? undefined : [answer];
  },
};

export const rows: readonly ConformanceRow[] = [
  {
    name: "tfserving over gRPC",
    wire: "grpc",
    start: grpcServers(service),
    target: ({ url, moreUrls, tls }) => ({
      ...DEFAULT_TF_SERVING_TARGET,
      url,
      ...(moreUrls.length === 0 ? {} : { moreUrls: [...moreUrls] }),
      tls,
      model: MODEL,
    }),
    failures: GRPC_FAILURES,
    cannot: { sequences: "TensorFlow Serving has no sequences" },
  },
];
