import { type MessageSpec, message } from "../protobuf/message.ts";
import { MODEL_CONFIG } from "./model-config.ts";

/**
 * The messages of Triton's gRPC service that Rampart uses, with the field names and numbers of the KServe v2 protocol and Triton's
 * extensions (`grpc_service.proto`).
 */

const duration = message(() => ({ count: [1, "uint64"], ns: [2, "uint64"] }));

const tensorMetadata = message(() => ({
  name: [1, "string"],
  datatype: [2, "string"],
  shape: [3, "int64", "repeated"],
}));

const inferParameter = message(() => ({
  bool_param: [1, "bool"],
  int64_param: [2, "int64"],
  string_param: [3, "string"],
  double_param: [4, "double"],
  uint64_param: [5, "uint64"],
}));

/** Typed elements, which servers may send instead of raw contents. */
const tensorContents = message(() => ({
  bool_contents: [1, "bool", "repeated"],
  int_contents: [2, "int32", "repeated"],
  int64_contents: [3, "int64", "repeated"],
  uint_contents: [4, "uint32", "repeated"],
  uint64_contents: [5, "uint64", "repeated"],
  fp32_contents: [6, "float", "repeated"],
  fp64_contents: [7, "double", "repeated"],
  bytes_contents: [8, "bytes", "repeated"],
}));

const outputTensor = message(() => ({
  name: [1, "string"],
  datatype: [2, "string"],
  shape: [3, "int64", "repeated"],
  parameters: [4, inferParameter, "map"],
  contents: [5, tensorContents],
}));

export const NAMED_REQUEST: MessageSpec = message(() => ({ name: [1, "string"], version: [2, "string"] }));

export const READY_RESPONSE: MessageSpec = message(() => ({ ready: [1, "bool"] }));

export const SERVER_METADATA: MessageSpec = message(() => ({
  name: [1, "string"],
  version: [2, "string"],
  extensions: [3, "string", "repeated"],
}));

export const MODEL_METADATA: MessageSpec = message(() => ({
  name: [1, "string"],
  versions: [2, "string", "repeated"],
  platform: [3, "string"],
  inputs: [4, tensorMetadata, "repeated"],
  outputs: [5, tensorMetadata, "repeated"],
}));

export const REPOSITORY_INDEX_REQUEST: MessageSpec = message(() => ({
  repository_name: [1, "string"],
  ready: [2, "bool"],
}));

export const REPOSITORY_INDEX: MessageSpec = message(() => ({
  models: [
    1,
    message(() => ({ name: [1, "string"], version: [2, "string"], state: [3, "string"], reason: [4, "string"] })),
    "repeated",
  ],
}));

const inferenceStatistics = message(() => ({
  success: [1, duration],
  fail: [2, duration],
  queue: [3, duration],
  compute_input: [4, duration],
  compute_infer: [5, duration],
  compute_output: [6, duration],
  cache_hit: [7, duration],
  cache_miss: [8, duration],
}));

const batchStatistics = message(() => ({
  batch_size: [1, "uint64"],
  compute_input: [2, duration],
  compute_infer: [3, duration],
  compute_output: [4, duration],
}));

const modelStatistics = message(() => ({
  name: [1, "string"],
  version: [2, "string"],
  last_inference: [3, "uint64"],
  inference_count: [4, "uint64"],
  execution_count: [5, "uint64"],
  inference_stats: [6, inferenceStatistics],
  batch_stats: [7, batchStatistics, "repeated"],
  memory_usage: [8, message(() => ({ type: [1, "string"], id: [2, "int64"], byte_size: [3, "uint64"] })), "repeated"],
}));

export const MODEL_STATISTICS: MessageSpec = message(() => ({
  model_stats: [1, modelStatistics, "repeated"],
}));

/** The values of a trace setting, in requests and responses of `TraceSetting`. */
const traceValues = message(() => ({ value: [1, "string", "repeated"] }));

export const TRACE_SETTING_REQUEST: MessageSpec = message(() => ({
  settings: [1, traceValues, "map"],
  model_name: [2, "string"],
}));

export const TRACE_SETTING_RESPONSE: MessageSpec = message(() => ({ settings: [1, traceValues, "map"] }));

export const EMPTY: MessageSpec = message(() => ({}));

export const SYSTEM_REGION: MessageSpec = message(() => ({
  name: [1, "string"],
  key: [2, "string"],
  offset: [3, "uint64"],
  byte_size: [4, "uint64"],
}));

export const CUDA_REGION: MessageSpec = message(() => ({
  name: [1, "string"],
  raw_handle: [2, "bytes"],
  device_id: [3, "int64"],
  byte_size: [4, "uint64"],
}));

export const INFER_REQUEST: MessageSpec = message(() => ({
  model_name: [1, "string"],
  model_version: [2, "string"],
  id: [3, "string"],
  parameters: [4, inferParameter, "map"],
  inputs: [5, outputTensor, "repeated"],
  outputs: [6, message(() => ({ name: [1, "string"], parameters: [2, inferParameter, "map"] })), "repeated"],
  raw_input_contents: [7, "bytes", "repeated"],
}));

export const INFER_RESPONSE: MessageSpec = message(() => ({
  model_name: [1, "string"],
  model_version: [2, "string"],
  id: [3, "string"],
  parameters: [4, inferParameter, "map"],
  outputs: [5, outputTensor, "repeated"],
  raw_output_contents: [6, "bytes", "repeated"],
}));

export const STREAM_INFER_RESPONSE: MessageSpec = message(() => ({
  error_message: [1, "string"],
  infer_response: [2, INFER_RESPONSE],
}));

export const MODEL_CONFIG_RESPONSE: MessageSpec = message(() => ({ config: [1, MODEL_CONFIG] }));
