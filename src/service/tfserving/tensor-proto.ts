import { plural } from "../../plan/units.ts";
import { ProtocolError } from "../../transport/failure.ts";
import { joinBytesElements, splitBytesElements } from "../json-tensors.ts";
import type { ProtoObject } from "../protobuf/message.ts";
import { ENDS_IN_VARINT, ProtoReader, WIRE } from "../protobuf/wire.ts";
import { type Datatype, elementBytes, elementCount, type Tensor } from "../tensor.ts";
import { type TfDataType, tfTypeOf, toTfType } from "./data-types.ts";

/** Conversion of tensors to TensorFlow's `TensorProto` messages and back. */

const FIELD = { dtype: 1, shape: 2, content: 4, float: 5, double: 6, string: 8 } as const;
/** A longer list of values must be complete, so that the memory for a response is limited by its length. */
const MAX_COMPLETED = 1024 * 1024;
/** One more than the largest field number with typed values. */
const FIELD_LIMIT = 19;

/**
 * Converts a tensor to a `TensorProto`. Its data is written to `tensor_content` unchanged, which is shorter than typed values and
 * which the server copies without a loop. Strings are written to `string_val`, the only field for strings.
 */
export function toTensorProto({ datatype, shape, bytes }: Tensor): ProtoObject {
  const dim: ProtoObject[] = [];
  for (const size of shape) dim.push({ size });
  const head = { dtype: toTfType(datatype).name, tensor_shape: { dim } };
  if (datatype === "BYTES") return { ...head, string_val: splitBytesElements(bytes) ?? [] };
  // TensorFlow accepts only the bytes 0 and 1 as bools.
  return { ...head, tensor_content: datatype === "BOOL" ? bytes.map((byte) => (byte === 0 ? 0 : 1)) : bytes };
}

/** A `TensorProto` in a message, without its values. The object is reused for the next one. */
export class ScannedTensor {
  /** Number of the tensor's `DataType`. */
  dtype = 0;
  shape: number[] = [];
  /** Length of `tensor_content`; 0 without one. */
  contentBytes = 0;
  /** Number of typed values, by the number of their field. */
  readonly valueCounts: number[] = new Array<number>(FIELD_LIMIT).fill(0);

  /**
   * Reads the tensor at the position of `reader`.
   * @param places receives `from, to` pairs of the offsets of data whose bytes may have any value
   * @throws ProtocolError if it is not a `TensorProto`
   */
  scan(reader: ProtoReader, places: number[]): void {
    this.dtype = 0;
    this.shape = [];
    this.contentBytes = 0;
    this.valueCounts.fill(0);
    while (reader.next()) {
      const { fieldNumber } = reader;
      if (fieldNumber === FIELD.dtype) this.dtype = reader.varint();
      else if (fieldNumber === FIELD.shape) this.shape = readShape(reader.message());
      else if (fieldNumber === FIELD.content) {
        this.contentBytes = reader.passBytes();
        addPlace(places, reader.position, this.contentBytes);
      } else if (isValueField(fieldNumber)) this.countValues(reader, places);
      else reader.skip();
    }
  }

  /** Explains why the tensor is not valid; undefined when it is. */
  explain(name: string): string | undefined {
    const type = tfTypeOf(this.dtype);
    // Other types, such as complex numbers, are not decoded.
    if (type === undefined) return this.dtype === 0 ? `output '${name}' has no data type` : undefined;
    const { datatype, valueField } = type;
    const shape = `shape [${this.shape.join(",")}]`;
    const count = elementCount(this.shape);
    if (count < 0) return `output '${name}' has the unknown ${shape}`;
    if (this.contentBytes > 0) {
      const expected = count * elementBytes(datatype);
      if (expected === this.contentBytes) return undefined;
      return `output '${name}' has ${this.contentBytes} bytes of content, where ${type.name} of ${shape} has ${expected}`;
    }
    const values = this.valueCounts[valueField] as number;
    if (values > count) return `output '${name}' has ${values} ${plural(values, "value")}, where ${shape} has ${count}`;
    if (values === count) return undefined;
    // A shorter list is completed with its last value. An entirely empty tensor is more likely a defect than all zeros.
    if (values === 0) return `output '${name}' has no values, where ${shape} has ${count}`;
    return count > MAX_COMPLETED
      ? `output '${name}' has ${values} ${plural(values, "value")}, where ${shape} has ${count}`
      : undefined;
  }

  private countValues(reader: ProtoReader, places: number[]): void {
    const { fieldNumber, wireType } = reader;
    const size = fixedBytes(fieldNumber);
    let count = 1;
    if (wireType === WIRE.bytes && fieldNumber !== FIELD.string) {
      if (size > 0) {
        const length = reader.passBytes();
        if (length % size !== 0) throw new ProtocolError(`protobuf field ${fieldNumber} has ${length} bytes`);
        count = length / size;
        addPlace(places, reader.position, length);
      } else count = countVarints(reader.bytes());
    } else reader.skip();
    this.valueCounts[fieldNumber] = (this.valueCounts[fieldNumber] as number) + count;
  }
}

function isValueField(fieldNumber: number): boolean {
  return fieldNumber > FIELD.content && fieldNumber < FIELD_LIMIT;
}

/** Returns the size of a field's values; 0 for values of varying size. */
function fixedBytes(fieldNumber: number): number {
  if (fieldNumber === FIELD.float) return 4;
  return fieldNumber === FIELD.double ? 8 : 0;
}

function addPlace(places: number[], end: number, length: number): void {
  if (length > 0) places.push(end - length, end);
}

/** Counts the bytes without the continuation bit: each varint has one, its last byte. */
function countVarints(bytes: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if ((bytes[i] as number) < 0x80) count++;
  if (bytes.length > 0 && (bytes[bytes.length - 1] as number) >= 0x80) throw new ProtocolError(ENDS_IN_VARINT);
  return count;
}

function readShape(reader: ProtoReader): number[] {
  const shape: number[] = [];
  while (reader.next()) {
    if (reader.fieldNumber !== 2) {
      reader.skip();
      continue;
    }
    const dim = reader.message();
    let size = 0;
    while (dim.next()) {
      if (dim.fieldNumber === 1) size = dim.signedVarint();
      else dim.skip();
    }
    shape.push(size);
  }
  return shape;
}

/**
 * Decodes a valid tensor.
 * @param message the bytes of its `TensorProto`
 * @returns undefined for a type without a `Datatype`
 * @throws ProtocolError
 */
export function readTensor(name: string, message: Uint8Array): Tensor | undefined {
  const scanned = new ScannedTensor();
  scanned.scan(new ProtoReader(message), []);
  const reason = scanned.explain(name);
  if (reason !== undefined) throw new ProtocolError(reason);
  const type = tfTypeOf(scanned.dtype);
  if (type === undefined) return undefined;
  const { shape, contentBytes } = scanned;
  const { datatype } = type;
  const count = elementCount(shape);
  if (datatype === "BYTES") return { name, datatype, shape, bytes: readStrings(message, count) };
  const bytes = contentBytes > 0 ? readContent(message) : readValues(message, type, count);
  return { name, datatype, shape, bytes };
}

function readContent(message: Uint8Array): Uint8Array {
  const reader = new ProtoReader(message);
  let content = new Uint8Array(0);
  while (reader.next()) {
    if (reader.fieldNumber === FIELD.content) content = reader.bytes().slice();
    else reader.skip();
  }
  return content;
}

function readStrings(message: Uint8Array, count: number): Uint8Array {
  const reader = new ProtoReader(message);
  const elements: Uint8Array[] = [];
  while (reader.next()) {
    if (reader.fieldNumber === FIELD.string) elements.push(reader.bytes());
    else reader.skip();
  }
  const last = elements.at(-1) ?? new Uint8Array(0);
  while (elements.length < count) elements.push(last);
  return joinBytesElements(elements);
}

/** Reads typed values, packed or not. Like TensorFlow, completes a short list with its last value. */
function readValues(message: Uint8Array, { datatype, valueField }: TfDataType, count: number): Uint8Array {
  const size = elementBytes(datatype);
  const bytes = new Uint8Array(count * size);
  const view = new DataView(bytes.buffer);
  const write = VALUE_WRITERS[datatype] ?? writeInteger;
  const reader = new ProtoReader(message);
  let offset = 0;
  const readOne = (values: ProtoReader): void => {
    write(view, offset, values, size);
    offset += size;
  };
  while (reader.next()) {
    if (reader.fieldNumber !== valueField) reader.skip();
    else if (reader.wireType !== WIRE.bytes) readOne(reader);
    else for (const packed = reader.message(); !packed.isAtEnd; ) readOne(packed);
  }
  for (; offset > 0 && offset < bytes.length; offset += size) bytes.copyWithin(offset, offset - size, offset);
  return bytes;
}

type WriteValue = (view: DataView, offset: number, reader: ProtoReader, size: number) => void;

const VALUE_WRITERS: Readonly<Partial<Record<Datatype, WriteValue>>> = {
  FP32: (view, offset, reader) => view.setFloat32(offset, reader.float(), true),
  FP64: (view, offset, reader) => view.setFloat64(offset, reader.double(), true),
  INT64: (view, offset, reader) => reader.varint64Into(view, offset),
  UINT64: (view, offset, reader) => reader.varint64Into(view, offset),
};

/** Writes the lower bits of a varint. Negative numbers, whose varint has all 64 bits, are handled too. */
function writeInteger(view: DataView, offset: number, reader: ProtoReader, size: number): void {
  const value = reader.signedVarint();
  if (size === 1) view.setUint8(offset, value);
  else if (size === 2) view.setUint16(offset, value, true);
  else view.setUint32(offset, value, true);
}
