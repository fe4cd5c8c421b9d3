import { type EnumSpec, enumOf, type MessageSpec, message } from "../protobuf/message.ts";

/** The message of a model's configuration, with Triton's field names and numbers (`model_config.proto`). */

const dataType: EnumSpec = enumOf(
  "TYPE_",
  "INVALID BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 FP32 FP64 STRING BF16",
);

const reshape = message(() => ({ shape: [1, "int64", "repeated"] }));
const pinnedMemory = message(() => ({ enable: [1, "bool"] }));
const queuePolicy = message(() => ({
  timeout_action: [1, enumOf("", "REJECT DELAY")],
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

const control = message(() => ({
  kind: [1, enumOf("CONTROL_SEQUENCE_", "START READY END CORRID")],
  int32_false_true: [2, "int32", "repeated"],
  fp32_false_true: [3, "float", "repeated"],
  data_type: [4, dataType],
  bool_false_true: [5, "bool", "repeated"],
}));

const controlInput = message(() => ({
  name: [1, "string"],
  control: [2, control, "repeated"],
}));

const oldestSequence = message(() => ({
  max_candidate_sequences: [1, "int32"],
  preferred_batch_size: [2, "int32", "repeated"],
  max_queue_delay_microseconds: [3, "uint64"],
  preserve_ordering: [4, "bool"],
}));

const sequenceBatching = message(() => ({
  max_sequence_idle_microseconds: [1, "uint64"],
  control_input: [2, controlInput, "repeated"],
  direct: [3, message(() => ({ max_queue_delay_microseconds: [1, "uint64"], minimum_slot_utilization: [2, "float"] }))],
  oldest: [4, oldestSequence],
}));

const ensembleStep = message(() => ({
  model_name: [1, "string"],
  model_version: [2, "int64"],
  input_map: [3, "string", "map"],
  output_map: [4, "string", "map"],
  model_namespace: [5, "string"],
}));

const ensembleScheduling = message(() => ({
  step: [1, ensembleStep, "repeated"],
}));

const instanceGroup = message(() => ({
  name: [1, "string"],
  count: [2, "int32"],
  gpus: [3, "int32", "repeated"],
  kind: [4, enumOf("KIND_", "AUTO GPU CPU MODEL")],
  profile: [5, "string", "repeated"],
  passive: [7, "bool"],
  host_policy: [9, "string"],
}));

const optimization = message(() => ({
  graph: [1, message(() => ({ level: [1, "int32"] }))],
  priority: [2, enumOf("PRIORITY_", "DEFAULT MAX MIN")],
  input_pinned_memory: [5, pinnedMemory],
  output_pinned_memory: [6, pinnedMemory],
  gather_kernel_buffer_threshold: [7, "uint32"],
  eager_batching: [8, "bool"],
}));

const versionPolicy = message(() => ({
  latest: [1, message(() => ({ num_versions: [1, "uint32"] }))],
  all: [2, message(() => ({}))],
  specific: [3, message(() => ({ versions: [1, "int64", "repeated"] }))],
}));

const modelInput = message(() => ({
  name: [1, "string"],
  data_type: [2, dataType],
  format: [3, enumOf("FORMAT_", "NONE NHWC NCHW")],
  dims: [4, "int64", "repeated"],
  reshape: [5, reshape],
  is_shape_tensor: [6, "bool"],
  allow_ragged_batch: [7, "bool"],
  optional: [8, "bool"],
  is_non_linear_format_io: [9, "bool"],
}));

const modelOutput = message(() => ({
  name: [1, "string"],
  data_type: [2, dataType],
  dims: [3, "int64", "repeated"],
  label_filename: [4, "string"],
  reshape: [5, reshape],
  is_shape_tensor: [6, "bool"],
  is_non_linear_format_io: [7, "bool"],
}));

/** The configuration of a model. */
export const MODEL_CONFIG: MessageSpec = message(() => ({
  name: [1, "string"],
  platform: [2, "string"],
  version_policy: [3, versionPolicy],
  max_batch_size: [4, "int32"],
  input: [5, modelInput, "repeated"],
  output: [6, modelOutput, "repeated"],
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
