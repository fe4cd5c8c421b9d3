/** Tensors, as every service kind knows them. */

/** Element types of the KServe v2 protocol. */
export type Datatype =
  | "BOOL"
  | "UINT8"
  | "UINT16"
  | "UINT32"
  | "UINT64"
  | "INT8"
  | "INT16"
  | "INT32"
  | "INT64"
  | "FP16"
  | "BF16"
  | "FP32"
  | "FP64"
  | "BYTES";

const ELEMENT_BYTES: Readonly<Record<Datatype, number>> = {
  BOOL: 1,
  UINT8: 1,
  UINT16: 2,
  UINT32: 4,
  UINT64: 8,
  INT8: 1,
  INT16: 2,
  INT32: 4,
  INT64: 8,
  FP16: 2,
  BF16: 2,
  FP32: 4,
  FP64: 8,
  BYTES: -1,
};

/** All datatypes. */
export const DATATYPES = Object.keys(ELEMENT_BYTES) as readonly Datatype[];

export function isDatatype(text: string): text is Datatype {
  return Object.hasOwn(ELEMENT_BYTES, text);
}

/** Bytes of one element; -1 for BYTES, whose elements vary. */
export function elementBytes(datatype: Datatype): number {
  return ELEMENT_BYTES[datatype];
}

/** What a model says of one of its inputs or outputs. */
export interface TensorSpec {
  readonly name: string;
  readonly datatype: Datatype;
  /** Dimensions of one batch item, without the batch dimension; -1 where the size varies. */
  readonly shape: readonly number[];
  /** The model's own `shape`, with -1 where it varies, where the user gave another; absent where `shape` is the model's. */
  readonly modelShape?: readonly number[];
  readonly isOptional: boolean;
  /** A shape tensor's values are dimensions: it is never batched and never made up. */
  readonly isShapeTensor: boolean;
}

/** A tensor with its data. */
export interface Tensor {
  readonly name: string;
  readonly datatype: Datatype;
  /** All dimensions, the batch dimension included. */
  readonly shape: readonly number[];
  /** Row-major little-endian elements; BYTES elements each with a 4-byte little-endian length before them. Empty where there is a place. */
  readonly bytes: Uint8Array;
  /** Where the data lies instead, when it is not sent. */
  readonly place?: SharedPlace | undefined;
}

/** A part of a region that is shared with the server. */
export interface SharedPlace {
  /** The region's name at the server. */
  readonly region: string;
  readonly offset: number;
  readonly sizeBytes: number;
}

/** Number of elements; -1 when a dimension varies. */
export function elementCount(shape: readonly number[]): number {
  let count = 1;
  for (const dim of shape) {
    if (dim < 0) return -1;
    count *= dim;
  }
  return count;
}

/** Bytes of a tensor of fixed-size elements; -1 when a dimension varies or the elements do. */
export function tensorBytes(shape: readonly number[], datatype: Datatype): number {
  const count = elementCount(shape);
  return count < 0 || datatype === "BYTES" ? -1 : count * elementBytes(datatype);
}

/** Bytes that a tensor of BYTES elements takes at the beginning of a place; more than the place has when its elements do not end there. */
export function sizeInPlace(shape: readonly number[], place: Uint8Array): number {
  const view = new DataView(place.buffer, place.byteOffset, place.length);
  let size = 0;
  for (let rest = elementCount(shape); rest > 0; rest--) {
    if (size + 4 > place.length) return place.length + 1;
    size += 4 + view.getUint32(size, true);
  }
  return size;
}

/** Pieces of data as one. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let size = 0;
  for (const part of parts) size += part.length;
  const joined = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** A shape as messages print it: `[-1,16]`. */
export function formatShape(shape: readonly number[]): string {
  return `[${shape.join(",")}]`;
}
