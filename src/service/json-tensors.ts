import { encoder } from "../runtime/text.ts";
import { formatJsonDouble } from "./lossless-json.ts";
import { toShortFloat } from "./short-floats.ts";
import { type Datatype, elementBytes } from "./tensor.ts";

// A byte order mark belongs to the element.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Splits BYTES elements, each of which follows its 4-byte little-endian length. Undefined if the lengths do not add up. */
export function splitBytesElements(bytes: Uint8Array): Uint8Array[] | undefined {
  const elements: Uint8Array[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let offset = 0; offset < bytes.length; ) {
    if (offset + 4 > bytes.length) return undefined;
    const size = view.getUint32(offset, true);
    if (offset + 4 + size > bytes.length) return undefined;
    elements.push(bytes.subarray(offset + 4, offset + 4 + size));
    offset += 4 + size;
  }
  return elements;
}

/** Joins BYTES elements, each after its length. */
export function joinBytesElements(elements: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(elements.reduce((sum, element) => sum + 4 + element.length, 0));
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const element of elements) {
    view.setUint32(offset, element.length, true);
    bytes.set(element, offset + 4);
    offset += 4 + element.length;
  }
  return bytes;
}

/** Converts elements to JSON. Undefined for FP16, BF16 and BYTES that are not UTF-8, which have no JSON form in the protocol. */
export function toJsonElements(datatype: Datatype, bytes: Uint8Array): string[] | undefined {
  if (datatype === "BYTES") return toJsonStrings(bytes);
  const read = NUMBER_READERS[datatype];
  if (read === undefined) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = elementBytes(datatype);
  const elements: string[] = [];
  for (let offset = 0; offset + size <= bytes.length; offset += size) elements.push(read(view, offset));
  return elements;
}

function toJsonStrings(bytes: Uint8Array): string[] | undefined {
  try {
    return splitBytesElements(bytes)?.map((element) => JSON.stringify(decoder.decode(element)));
  } catch {
    return undefined;
  }
}

const NUMBER_READERS: Readonly<Partial<Record<Datatype, (view: DataView, offset: number) => string>>> = {
  BOOL: (view, offset) => String(view.getUint8(offset) !== 0),
  UINT8: (view, offset) => String(view.getUint8(offset)),
  UINT16: (view, offset) => String(view.getUint16(offset, true)),
  UINT32: (view, offset) => String(view.getUint32(offset, true)),
  UINT64: (view, offset) => String(view.getBigUint64(offset, true)),
  INT8: (view, offset) => String(view.getInt8(offset)),
  INT16: (view, offset) => String(view.getInt16(offset, true)),
  INT32: (view, offset) => String(view.getInt32(offset, true)),
  INT64: (view, offset) => String(view.getBigInt64(offset, true)),
  FP32: (view, offset) => formatJsonDouble(view.getFloat32(offset, true)),
  FP64: (view, offset) => formatJsonDouble(view.getFloat64(offset, true)),
};

const NUMBER_WRITERS: Readonly<
  Partial<Record<Datatype, (view: DataView, offset: number, value: number | bigint) => void>>
> = {
  BOOL: (view, offset, value) => view.setUint8(offset, Number(value)),
  UINT8: (view, offset, value) => view.setUint8(offset, Number(value)),
  UINT16: (view, offset, value) => view.setUint16(offset, Number(value), true),
  UINT32: (view, offset, value) => view.setUint32(offset, Number(value), true),
  UINT64: (view, offset, value) => view.setBigUint64(offset, BigInt(value), true),
  INT8: (view, offset, value) => view.setInt8(offset, Number(value)),
  INT16: (view, offset, value) => view.setInt16(offset, Number(value), true),
  INT32: (view, offset, value) => view.setInt32(offset, Number(value), true),
  INT64: (view, offset, value) => view.setBigInt64(offset, BigInt(value), true),
  FP16: (view, offset, value) => view.setUint16(offset, toShortFloat("FP16", Number(value)), true),
  BF16: (view, offset, value) => view.setUint16(offset, toShortFloat("BF16", Number(value)), true),
  FP32: (view, offset, value) => view.setFloat32(offset, Number(value), true),
  FP64: (view, offset, value) => view.setFloat64(offset, Number(value), true),
};

/** Converts JSON elements to binary. Undefined if one does not fit the datatype. */
export function fromJsonElements(datatype: Datatype, elements: readonly unknown[]): Uint8Array | undefined {
  if (datatype === "BYTES") {
    if (!elements.every((element) => typeof element === "string")) return undefined;
    return joinBytesElements(elements.map((element) => encoder.encode(element)));
  }
  const write = NUMBER_WRITERS[datatype];
  if (write === undefined) return undefined;
  const size = elementBytes(datatype);
  const isBigType = datatype === "INT64" || datatype === "UINT64";
  const bytes = new Uint8Array(size * elements.length);
  const view = new DataView(bytes.buffer);
  for (const [index, element] of elements.entries()) {
    const value = typeof element === "boolean" ? Number(element) : element;
    if (typeof value !== "number" && typeof value !== "bigint") return undefined;
    if (isBigType && typeof value === "number" && !Number.isInteger(value)) return undefined;
    write(view, index * size, value);
  }
  return bytes;
}
