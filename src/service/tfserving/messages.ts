import { type EnumSpec, enumOf, type MessageSpec, message } from "../protobuf/message.ts";

/** The messages of TensorFlow Serving's PredictionService and ModelService, and of TensorFlow's tensors. */

/** TensorFlow's `DataType`, by number. */
const DATA_TYPE: EnumSpec = enumOf(
  "DT_",
  "INVALID FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 " +
    "QINT32 BFLOAT16 QINT16 QUINT16 UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64 " +
    "FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E4M3FNUZ FLOAT8_E4M3B11FNUZ FLOAT8_E5M2FNUZ INT4 UINT4",
);

const tensorShape = message(() => ({
  dim: [2, message(() => ({ size: [1, "int64"], name: [2, "string"] })), "repeated"],
  unknown_rank: [3, "bool"],
}));

const MODEL_SPEC: MessageSpec = message(() => ({
  name: [1, "string"],
  version: [2, message(() => ({ value: [1, "int64"] }))],
  signature_name: [3, "string"],
  version_label: [4, "string"],
}));

export const TENSOR: MessageSpec = message(() => ({
  dtype: [1, DATA_TYPE],
  tensor_shape: [2, tensorShape],
  version_number: [3, "int32"],
  tensor_content: [4, "bytes"],
  float_val: [5, "float", "repeated"],
  double_val: [6, "double", "repeated"],
  int_val: [7, "int32", "repeated"],
  string_val: [8, "bytes", "repeated"],
  int64_val: [10, "int64", "repeated"],
  bool_val: [11, "bool", "repeated"],
  half_val: [13, "int32", "repeated"],
  uint32_val: [16, "uint32", "repeated"],
  uint64_val: [17, "uint64", "repeated"],
}));

const tensors = message(() => ({ key: [1, "string"], value: [2, TENSOR] }));

/** The request's tensors are a list of pairs, because a tensor may have any name. */
export const PREDICT_REQUEST: MessageSpec = message(() => ({
  model_spec: [1, MODEL_SPEC],
  inputs: [2, tensors, "repeated"],
  output_filter: [3, "string", "repeated"],
}));

export const PREDICT_RESPONSE: MessageSpec = message(() => ({
  outputs: [1, tensors, "repeated"],
  model_spec: [2, MODEL_SPEC],
}));

export const METADATA_REQUEST: MessageSpec = message(() => ({
  model_spec: [1, MODEL_SPEC],
  metadata_field: [2, "string", "repeated"],
}));

const tensorInfo = message(() => ({
  key: [1, "string"],
  value: [2, message(() => ({ name: [1, "string"], dtype: [2, DATA_TYPE], tensor_shape: [3, tensorShape] }))],
}));

const signature = message(() => ({
  inputs: [1, tensorInfo, "repeated"],
  outputs: [2, tensorInfo, "repeated"],
  method_name: [3, "string"],
}));

const metadataEntry = message(() => ({
  key: [1, "string"],
  value: [2, message(() => ({ type_url: [1, "string"], value: [2, SIGNATURES] }))],
}));

/** The `Any` of each field is decoded as the only type of message that this client requests. */
export const METADATA_RESPONSE: MessageSpec = message(() => ({
  model_spec: [1, MODEL_SPEC],
  metadata: [2, metadataEntry, "repeated"],
}));

const SIGNATURES: MessageSpec = message(() => ({
  signature_def: [1, message(() => ({ key: [1, "string"], value: [2, signature] })), "repeated"],
}));

export const STATUS_REQUEST: MessageSpec = message(() => ({ model_spec: [1, MODEL_SPEC] }));

export const STATUS_RESPONSE: MessageSpec = message(() => ({
  model_version_status: [1, message(() => ({ version: [1, "int64"], state: [2, "int32"] })), "repeated"],
}));
