import { decodeMessage, encodeMessage, type MessageSpec, type ProtoObject } from "../../service/protobuf/message.ts";
import type { Tensor } from "../../service/tensor.ts";
import * as messages from "../../service/tfserving/messages.ts";
import { readTensor, toTensorProto } from "../../service/tfserving/tensor-proto.ts";
import { STATUS, StatusError } from "../grpc-frames.ts";
import { MockError, MockModel, type MockOutput } from "../model.ts";
import type { MockMethod, MockService } from "./service.ts";

/** TensorFlow Serving's PredictionService over gRPC, with the model `simple`: the sum and difference of two INT32 tensors. */
export const tfServingService: MockService = {
  help: "Speak TensorFlow Serving's PredictionService too, at the port for gRPC.",
  create: (plan) => {
    const model = new MockModel(plan);
    return {
      describe: (_http, grpc) => `tfserving grpc ${grpc}, model ${MODEL}`,
      methods: {
        "/tensorflow.serving.PredictionService/Predict": unary(messages.PREDICT_REQUEST, (request) =>
          predict(model, request),
        ),
        "/tensorflow.serving.PredictionService/GetModelMetadata": unary(messages.METADATA_REQUEST, (request) =>
          describe(model, request),
        ),
        "/tensorflow.serving.ModelService/GetModelStatus": unary(messages.STATUS_REQUEST, ({ model_spec: spec }) => {
          checkSpec(spec as ProtoObject | undefined);
          return encodeMessage(messages.STATUS_RESPONSE, {
            model_version_status: [{ version: VERSION, state: AVAILABLE }],
          });
        }),
      },
    };
  },
};

const MODEL = "simple";
const VERSION = 1;
const SIGNATURE = "serving_default";
const AVAILABLE = 30;
const ELEMENTS = 16;
const INPUTS: readonly string[] = ["INPUT0", "INPUT1"];

/** Returns a method that answers a single message. */
function unary(spec: MessageSpec, answer: (request: ProtoObject) => Uint8Array | Promise<Uint8Array>): MockMethod {
  return async function* (received) {
    for await (const message of received) {
      try {
        yield await answer(decodeMessage(spec, message));
      } catch (error) {
        throw error instanceof MockError ? new StatusError(STATUS.invalidArgument, error.message) : error;
      }
      return;
    }
  };
}

/** @throws StatusError for another model or version, in the server's words */
function checkSpec(spec: ProtoObject | undefined): void {
  if (spec === undefined) throw new StatusError(STATUS.invalidArgument, "Missing ModelSpec");
  const { name = "", version, version_label: label } = spec;
  if (label !== undefined)
    throw new StatusError(STATUS.invalidArgument, `Unrecognized servable version label: ${label}`);
  const asked = (version as ProtoObject | undefined)?.["value"];
  if (name === MODEL && (asked === undefined || asked === VERSION)) return;
  const what = asked === undefined ? `Latest(${name})` : `Specific(${name}, ${asked})`;
  throw new StatusError(STATUS.notFound, `Servable not found for request: ${what}`);
}

function describe(model: MockModel, { model_spec: spec }: ProtoObject): Uint8Array {
  checkSpec(spec as ProtoObject | undefined);
  const { outputs } = model.metadata as { outputs: { name: string; datatype: string; shape: number[] }[] };
  const info = (name: string, datatype: string, shape: readonly number[]): ProtoObject => ({
    key: name,
    value: { name: `${name}:0`, dtype: `DT_${datatype}`, tensor_shape: { dim: shape.map((size) => ({ size })) } },
  });
  const signature = {
    inputs: INPUTS.map((name) => info(name, "INT32", [-1, ELEMENTS])),
    outputs: outputs.map(({ name, datatype, shape }) => info(name, datatype, shape)),
    method_name: "tensorflow/serving/predict",
  };
  return encodeMessage(messages.METADATA_RESPONSE, {
    model_spec: { name: MODEL, version: { value: VERSION } },
    metadata: [
      {
        key: "signature_def",
        value: {
          type_url: "type.googleapis.com/tensorflow.serving.SignatureDefMap",
          value: { signature_def: [{ key: SIGNATURE, value: signature }] },
        },
      },
    ],
  });
}

async function predict(model: MockModel, request: ProtoObject): Promise<Uint8Array> {
  const spec = request["model_spec"] as ProtoObject | undefined;
  checkSpec(spec);
  const signature = String(spec?.["signature_name"] ?? SIGNATURE);
  if (signature !== SIGNATURE)
    throw new StatusError(STATUS.failedPrecondition, `Serving signature key "${signature}" not found.`);
  const outputs = await model.infer(readInputs(request));
  const wanted = (request["output_filter"] ?? []) as string[];
  const sent = outputs.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  return encodeMessage(messages.PREDICT_RESPONSE, {
    outputs: sent.map((output) => ({ key: output.name, value: toTyped(output) })),
    model_spec: { name: MODEL, version: { value: VERSION }, signature_name: SIGNATURE },
  });
}

function readInputs(request: ProtoObject): Map<string, Uint8Array> {
  const inputs = new Map<string, Uint8Array>();
  for (const { key = "", value = {} } of (request["inputs"] ?? []) as ProtoObject[]) {
    const name = String(key);
    const tensor = readInput(name, encodeMessage(messages.TENSOR, value as ProtoObject));
    if (tensor?.datatype !== "INT32") throw new MockError(`Expected input ${name} to be int32`);
    if (tensor.shape.at(-1) !== ELEMENTS || tensor.shape.length !== 2)
      throw new MockError(`Input ${name}: expected shape [-1, ${ELEMENTS}], got [${tensor.shape.join(", ")}]`);
    inputs.set(name, tensor.bytes);
  }
  return inputs;
}

function readInput(name: string, message: Uint8Array): Tensor | undefined {
  try {
    return readTensor(name, message);
  } catch {
    throw new MockError(`tensor parsing error: ${name}`);
  }
}

/** Returns an output with typed values, as the real server does; only the extra output, which may be long, as raw content. */
function toTyped({ name, datatype, shape, bytes }: MockOutput): ProtoObject {
  const proto = toTensorProto({ name, datatype, shape, bytes });
  if (datatype !== "INT32") return proto;
  const { tensor_content: _, ...head } = proto;
  return { ...head, int_val: [...new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)] };
}
