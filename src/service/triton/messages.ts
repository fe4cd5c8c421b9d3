import { type EnumSpec, type MessageSpec, message } from "../protobuf/message.ts";

/**
 * The messages of Triton's gRPC service that Rampart uses, with the field names and numbers of the KServe v2 protocol and Triton's
 * extensions (`grpc_service.proto`, `model_config.proto`).
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

export const MODEL_STATISTICS: MessageSpec = message(() => ({
  model_stats: [
    1,
    message(() => ({
      name: [1, "string"],
      version: [2, "string"],
      last_inference: [3, "uint64"],
      inference_count: [4, "uint64"],
      execution_count: [5, "uint64"],
      inference_stats: [
        6,
        message(() => ({
          success: [1, duration],
          fail: [2, duration],
          queue: [3, duration],
          compute_input: [4, duration],
          compute_infer: [5, duration],
          compute_output: [6, duration],
          cache_hit: [7, duration],
          cache_miss: [8, duration],
        })),
      ],
      batch_stats: [
        7,
        message(() => ({
          batch_size: [1, "uint64"],
          compute_input: [2, duration],
          compute_infer: [3, duration],
          compute_output: [4, duration],
        })),
        "repeated",
      ],
      memory_usage: [
        8,
        message(() => ({ type: [1, "string"], id: [2, "int64"], byte_size: [3, "uint64"] })),
        "repeated",
      ],
    })),
    "repeated",
  ],
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

const dataType: EnumSpec = {
  names: [
    "TYPE_INVALID",
    "TYPE_BOOL",
    "TYPE_UINT8",
    "TYPE_UINT16",
    "TYPE_UINT32",
    "TYPE_UINT64",
    "TYPE_INT8",
    "TYPE_INT16",
    "TYPE_INT32",
    "TYPE_INT64",
    "TYPE_FP16",
    "TYPE_FP32",
    "TYPE_FP64",
    "TYPE_STRING",
    "TYPE_BF16",
  ],
};

const reshape = message(() => ({ shape: [1, "int64", "repeated"] }));
const pinnedMemory = message(() => ({ enable: [1, "bool"] }));
const queuePolicy = message(() => ({
  timeout_action: [1, { names: ["REJECT", "DELAY"] }],
  default_timeout_microseconds: [2, "uint64"],
  allow_timeout_override: [3, "bool"],
  max_queue_size: [4, "uint32"],
}));

const dynamicBatching = message(() => ({
  preferred_batch_size: [1, "int32", "repeated"],
  max_queue_delay_microseconds: [2, "uint64"],
  preserve_ordering: [3, "bool"],
  priority_levels: [4, "uint64"],
  default_priority_level: [5, "uint64"],
  default_queue_policy: [6, queuePolicy],
}));

const sequenceBatching = message(() => ({
  max_sequence_idle_microseconds: [1, "uint64"],
  control_input: [
    2,
    message(() => ({
      name: [1, "string"],
      control: [
        2,
        message(() => ({
          kind: [
            1,
            {
              names: [
                "CONTROL_SEQUENCE_START",
                "CONTROL_SEQUENCE_READY",
                "CONTROL_SEQUENCE_END",
                "CONTROL_SEQUENCE_CORRID",
              ],
            },
          ],
          int32_false_true: [2, "int32", "repeated"],
          fp32_false_true: [3, "float", "repeated"],
          data_type: [4, dataType],
          bool_false_true: [5, "bool", "repeated"],
        })),
        "repeated",
      ],
    })),
    "repeated",
  ],
  direct: [3, message(() => ({ max_queue_delay_microseconds: [1, "uint64"], minimum_slot_utilization: [2, "float"] }))],
  oldest: [
    4,
    message(() => ({
      max_candidate_sequences: [1, "int32"],
      preferred_batch_size: [2, "int32", "repeated"],
      max_queue_delay_microseconds: [3, "uint64"],
      preserve_ordering: [4, "bool"],
    })),
  ],
}));

const ensembleScheduling = message(() => ({
  step: [
    1,
    message(() => ({
      model_name: [1, "string"],
      model_version: [2, "int64"],
      input_map: [3, "string", "map"],
      output_map: [4, "string", "map"],
      model_namespace: [5, "string"],
    })),
    "repeated",
  ],
}));

const instanceGroup = message(() => ({
  name: [1, "string"],
  count: [2, "int32"],
  gpus: [3, "int32", "repeated"],
  kind: [4, { names: ["KIND_AUTO", "KIND_GPU", "KIND_CPU", "KIND_MODEL"] }],
  profile: [5, "string", "repeated"],
  passive: [7, "bool"],
  host_policy: [9, "string"],
}));

const optimization = message(() => ({
  graph: [1, message(() => ({ level: [1, "int32"] }))],
  priority: [2, { names: ["PRIORITY_DEFAULT", "PRIORITY_MAX", "PRIORITY_MIN"] }],
  input_pinned_memory: [5, pinnedMemory],
  output_pinned_memory: [6, pinnedMemory],
  gather_kernel_buffer_threshold: [7, "uint32"],
  eager_batching: [8, "bool"],
}));

const MODEL_CONFIG: MessageSpec = message(() => ({
  name: [1, "string"],
  platform: [2, "string"],
  version_policy: [
    3,
    message(() => ({
      latest: [1, message(() => ({ num_versions: [1, "uint32"] }))],
      all: [2, message(() => ({}))],
      specific: [3, message(() => ({ versions: [1, "int64", "repeated"] }))],
    })),
  ],
  max_batch_size: [4, "int32"],
  input: [
    5,
    message(() => ({
      name: [1, "string"],
      data_type: [2, dataType],
      format: [3, { names: ["FORMAT_NONE", "FORMAT_NHWC", "FORMAT_NCHW"] }],
      dims: [4, "int64", "repeated"],
      reshape: [5, reshape],
      is_shape_tensor: [6, "bool"],
      allow_ragged_batch: [7, "bool"],
      optional: [8, "bool"],
      is_non_linear_format_io: [9, "bool"],
    })),
    "repeated",
  ],
  output: [
    6,
    message(() => ({
      name: [1, "string"],
      data_type: [2, dataType],
      dims: [3, "int64", "repeated"],
      label_filename: [4, "string"],
      reshape: [5, reshape],
      is_shape_tensor: [6, "bool"],
      is_non_linear_format_io: [7, "bool"],
    })),
    "repeated",
  ],
  instance_group: [7, instanceGroup, "repeated"],
  default_model_filename: [8, "string"],
  cc_model_filenames: [9, "string", "map"],
  metric_tags: [10, "string", "map"],
  dynamic_batching: [11, dynamicBatching],
  optimization: [12, optimization],
  sequence_batching: [13, sequenceBatching],
  parameters: [14, message(() => ({ string_value: [1, "string"] })), "map"],
  ensemble_scheduling: [15, ensembleScheduling],
  backend: [17, "string"],
  model_transaction_policy: [19, message(() => ({ decoupled: [1, "bool"] }))],
  response_cache: [24, message(() => ({ enable: [1, "bool"] }))],
  runtime: [25, "string"],
}));

export const MODEL_CONFIG_RESPONSE: MessageSpec = message(() => ({ config: [1, MODEL_CONFIG] }));
