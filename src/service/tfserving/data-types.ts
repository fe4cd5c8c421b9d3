import type { Datatype } from "../tensor.ts";

/** Encoding of one of TensorFlow's data types. */
export interface TfDataType {
  readonly datatype: Datatype;
  /** Name of TensorFlow's `DataType`. */
  readonly name: string;
  /** Number of the type. */
  readonly number: number;
  /** Number of the field of a `TensorProto` with its typed values. */
  readonly valueField: number;
}

/** The data types that have a `Datatype`. Source: tensorflow/core/framework/types.proto and tensor.proto. */
const ROWS: readonly (readonly [Datatype, name: string, number: number, valueField: number])[] = [
  ["FP32", "DT_FLOAT", 1, 5],
  ["FP64", "DT_DOUBLE", 2, 6],
  ["INT32", "DT_INT32", 3, 7],
  ["UINT8", "DT_UINT8", 4, 7],
  ["INT16", "DT_INT16", 5, 7],
  ["INT8", "DT_INT8", 6, 7],
  ["BYTES", "DT_STRING", 7, 8],
  ["INT64", "DT_INT64", 9, 10],
  ["BOOL", "DT_BOOL", 10, 11],
  ["BF16", "DT_BFLOAT16", 14, 13],
  ["UINT16", "DT_UINT16", 17, 7],
  ["FP16", "DT_HALF", 19, 13],
  ["UINT32", "DT_UINT32", 22, 16],
  ["UINT64", "DT_UINT64", 23, 17],
];

const BY_DATATYPE = new Map<Datatype, TfDataType>();
const BY_NUMBER: (TfDataType | undefined)[] = [];
const BY_NAME = new Map<string, TfDataType>();
for (const [datatype, name, number, valueField] of ROWS) {
  const type = { datatype, name, number, valueField };
  BY_DATATYPE.set(datatype, type);
  BY_NUMBER[number] = type;
  BY_NAME.set(name, type);
}

/** Names of the supported types, for messages. */
export const TF_TYPE_NAMES: readonly string[] = ROWS.map(([, name]) => name);

/** Returns the encoding of a datatype. */
export function toTfType(datatype: Datatype): TfDataType {
  return BY_DATATYPE.get(datatype) as TfDataType;
}

/** Returns the type with a number of `DataType`; undefined for one without a `Datatype`, such as complex numbers. */
export function tfTypeOf(number: number): TfDataType | undefined {
  return BY_NUMBER[number];
}

/** Returns the type with a name of `DataType`; undefined for one without a `Datatype`. */
export function tfTypeNamed(name: string): TfDataType | undefined {
  return BY_NAME.get(name);
}
