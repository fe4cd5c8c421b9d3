const ELEMENT_BYTES = {
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

/** Element types of the KServe v2 protocol. */
export type Datatype = keyof typeof ELEMENT_BYTES;

export const DATATYPES = Object.keys(ELEMENT_BYTES) as readonly Datatype[];

export function isDatatype(text: string): text is Datatype {
  return Object.hasOwn(ELEMENT_BYTES, text);
}

/** Bytes of one element; -1 for BYTES, whose elements vary. */
export function elementBytes(datatype: Datatype): number {
  return ELEMENT_BYTES[datatype];
}

/** An input or output of a model. */
export interface TensorSpec {
  readonly name: string;
  readonly datatype: Datatype;
  /** Dimensions of one batch item, without the batch dimension; -1 for variable ones. */
  readonly shape: readonly number[];
  /** The model's `shape`, with -1 for variable dimensions, if the user has replaced it; otherwise absent. */
  readonly modelShape?: readonly number[];
  readonly isOptional: boolean;
  /** Whether its values are dimensions. Such a tensor is never batched and never generated. */
  readonly isShapeTensor: boolean;
}

/** A tensor with its data. */
export interface Tensor {
  readonly name: string;
  readonly datatype: Datatype;
  /** All dimensions, including the batch dimension. */
  readonly shape: readonly number[];
  /** Row-major little-endian elements. Each element of BYTES follows its 4-byte little-endian length. Empty if `place` is set. */
  readonly bytes: Uint8Array;
  /** Place of data that is not sent. */
  readonly place?: SharedPlace | undefined;
}

/** A part of a region of shared memory. */
export interface SharedPlace {
  /** The region's name on the server. */
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

/** Size of a tensor with elements of fixed size; -1 for variable dimensions or elements. */
export function tensorBytes(shape: readonly number[], datatype: Datatype): number {
  const count = elementCount(shape);
  return count < 0 || datatype === "BYTES" ? -1 : count * elementBytes(datatype);
}

/** Returns the number of bytes of BYTES elements at the start of a place; more than its size if they do not end within it. */
export function sizeInPlace(shape: readonly number[], place: Uint8Array): number {
  const view = new DataView(place.buffer, place.byteOffset, place.length);
  let size = 0;
  for (let rest = elementCount(shape); rest > 0; rest--) {
    if (size + 4 > place.length) return place.length + 1;
    size += 4 + view.getUint32(size, true);
  }
  return size;
}

/** Formats a shape for messages: `[-1,16]`. */
export function formatShape(shape: readonly number[]): string {
  return `[${shape.join(",")}]`;
}
