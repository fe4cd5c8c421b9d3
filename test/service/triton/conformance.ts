import { decodeMessage, encodeMessage, type ProtoObject } from "../../../src/service/protobuf/message.ts";
import * as messages from "../../../src/service/triton/messages.ts";
import { DEFAULT_TRITON_TARGET, type TritonTargetPlan } from "../../../src/service/triton/target.ts";
import { GRPC_FAILURES, type GrpcService, grpcServers } from "../../conformance/grpc-service.ts";
import { HTTP_FAILURES, type HttpRequest, type HttpService, httpServers } from "../../conformance/http-service.ts";
import type { Aim, ConformanceRow, ServerSettings, Traffic } from "../../conformance/row.ts";
import { statisticsOf } from "../../run/kserve-statistics.ts";
import type { SequenceRequest } from "../../run/send/sequence-traffic.ts";

/** KServe v2 with Triton's extensions: a model with one input and one output of four FP32. */

const MODEL = "m";
const SERVER = { name: "row", version: "1", extensions: ["binary_tensor_data", "statistics", "model_configuration"] };
const METADATA = {
  name: MODEL,
  versions: ["1"],
  platform: "row",
  inputs: [{ name: "IN", datatype: "FP32", shape: [4] }],
  outputs: [{ name: "OUT", datatype: "FP32", shape: [4] }],
};
const CONFIG = {
  name: MODEL,
  max_batch_size: 0,
  input: [{ name: "IN", data_type: "TYPE_FP32", dims: [4] }],
  output: [{ name: "OUT", data_type: "TYPE_FP32", dims: [4] }],
};

function configOf({ isSequence }: ServerSettings): object {
  return isSequence ? { ...CONFIG, sequence_batching: { max_sequence_idle_microseconds: 5_000_000 } } : CONFIG;
}

function countsOf({ answered, faulted }: Traffic): object {
  return { model_stats: [statisticsOf(MODEL, "1", answered, answered, faulted)] };
}

function target({ url, moreUrls, tls }: Aim, protocol: "http" | "grpc", isStreaming = false): TritonTargetPlan {
  const more = moreUrls.length === 0 ? {} : { moreUrls: [...moreUrls] };
  return { ...DEFAULT_TRITON_TARGET, url, ...more, tls, protocol, isStreaming, model: MODEL };
}

interface InferJson {
  readonly id?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

function readJson({ headers, body }: HttpRequest): InferJson {
  const bytes = Number(headers["inference-header-content-length"] ?? body.length);
  return JSON.parse(body.toString("utf8", 0, bytes)) as InferJson;
}

const overHttp: HttpService = {
  isLoad: ({ path }) => path.endsWith("/infer"),
  answer: (request, settings, traffic) => {
    const answers: Readonly<Record<string, () => object>> = {
      "/v2": () => SERVER,
      [`/v2/models/${MODEL}`]: () => METADATA,
      [`/v2/models/${MODEL}/config`]: () => configOf(settings),
      [`/v2/models/${MODEL}/stats`]: () => countsOf(traffic),
      [`/v2/models/${MODEL}/infer`]: () => {
        const { id } = readJson(request);
        const outputs = [{ name: "OUT", datatype: "FP32", shape: [4], data: [1, 2, 3, 4] }];
        return { ...(id === undefined ? {} : { id }), model_name: MODEL, model_version: "1", outputs };
      },
    };
    const answer = answers[request.path];
    return answer === undefined ? { status: 404, body: "{}" } : { body: JSON.stringify(answer()) };
  },
  sequence: (request) => toSequence((name) => readJson(request).parameters?.[name]),
};

function toSequence(parameter: (name: string) => unknown): SequenceRequest | undefined {
  const id = Number(parameter("sequence_id") ?? 0);
  if (id === 0) return undefined;
  return { id, isStart: parameter("sequence_start") === true, isEnd: parameter("sequence_end") === true };
}

/** @param isStream each message of a call of ModelStreamInfer is a request */
function overGrpc(isStream: boolean): GrpcService {
  const infer = (message: Uint8Array): ProtoObject => {
    const { id } = decodeMessage(messages.INFER_REQUEST, message);
    const outputs = [{ name: "OUT", datatype: "FP32", shape: [4], contents: { fp32_contents: [1, 2, 3, 4] } }];
    return { ...(id === undefined ? {} : { id }), model_name: MODEL, model_version: "1", outputs };
  };
  const answers: Readonly<Record<string, (message: Uint8Array, of: ServerSettings, to: Traffic) => Uint8Array>> = {
    ServerMetadata: () => encodeMessage(messages.SERVER_METADATA, SERVER),
    ModelMetadata: () => encodeMessage(messages.MODEL_METADATA, METADATA),
    ModelConfig: (_, of) => encodeMessage(messages.MODEL_CONFIG_RESPONSE, { config: configOf(of) as ProtoObject }),
    ModelStatistics: (_, __, to) => encodeMessage(messages.MODEL_STATISTICS, countsOf(to) as ProtoObject),
    ModelInfer: (message) => encodeMessage(messages.INFER_RESPONSE, infer(message)),
    ModelStreamInfer: (message) => encodeMessage(messages.STREAM_INFER_RESPONSE, { infer_response: infer(message) }),
  };
  const service: GrpcService = {
    isLoad: (method) => method === (isStream ? "ModelStreamInfer" : "ModelInfer"),
    isStream,
    answer: (method, message, settings, traffic) => {
      const answer = answers[method]?.(message, settings, traffic);
      return answer === undefined ? undefined : [answer];
    },
    sequence: (message) => {
      const parameters = (decodeMessage(messages.INFER_REQUEST, message)["parameters"] ?? {}) as ProtoObject;
      return toSequence((name) => Object.values((parameters[name] ?? {}) as ProtoObject)[0]);
    },
  };
  if (!isStream) return service;
  const error = (message: Uint8Array): Uint8Array => {
    const { id } = decodeMessage(messages.INFER_REQUEST, message);
    const answer = { error_message: "made to fail", infer_response: id === undefined ? {} : { id } };
    return encodeMessage(messages.STREAM_INFER_RESPONSE, answer);
  };
  return { ...service, error };
}

export const rows: readonly ConformanceRow[] = [
  {
    name: "triton over HTTP",
    wire: "http",
    start: httpServers(overHttp),
    target: (aim) => target(aim, "http"),
    hasStatistics: true,
    failures: HTTP_FAILURES,
    cannot: {},
  },
  {
    name: "triton over gRPC",
    wire: "grpc",
    start: grpcServers(overGrpc(false)),
    target: (aim) => target(aim, "grpc"),
    hasStatistics: true,
    failures: GRPC_FAILURES,
    cannot: {},
  },
  {
    name: "triton over a gRPC stream",
    wire: "grpc",
    start: grpcServers(overGrpc(true)),
    target: (aim) => target(aim, "grpc", true),
    hasStatistics: true,
    failures: { ...GRPC_FAILURES, error: { kind: "model" } },
    cannot: {},
  },
];
