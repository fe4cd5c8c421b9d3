import { isSameBytes } from "../../runtime/bytes.ts";
import { decoder, encoder } from "../../runtime/text.ts";
import { ProtocolError } from "../../transport/failure.ts";
import { latin1Text } from "../../transport/latin1.ts";

/** Reasons why bytes are not a message. */
export const ENDS_IN_VARINT = "protobuf message ends within a varint";
export const LONG_VARINT = "protobuf varint is too long";
export const PAST_MESSAGE = "protobuf field reaches past its message";

/** The protobuf wire format: tags, varints and length-delimited fields. */

export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const SHORT_BYTES = 24;

/** Writes one message. */
export class ProtoWriter {
  private store = new Uint8Array(256);
  private used = 0;

  /** Number of bytes written, which is the offset of the next byte. */
  get length(): number {
    return this.used;
  }

  /** Returns a copy of the message. */
  finish(): Uint8Array {
    return this.store.slice(0, this.used);
  }

  tag(fieldNumber: number, wireType: number): void {
    this.varint(fieldNumber * 8 + wireType);
  }

  /** Writes a non-negative integer below 2^53, or a negative one in two's complement like protobuf's int32 and int64. */
  varint(value: number | bigint): void {
    if (typeof value === "number" && value >= 0) {
      let rest = value;
      while (rest >= 128) {
        this.byte((rest % 128) | 0x80);
        rest = Math.floor(rest / 128);
      }
      this.byte(rest);
      return;
    }
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest >= 128n) {
      this.byte(Number(rest & 127n) | 0x80);
      rest >>= 7n;
    }
    this.byte(Number(rest));
  }

  double(value: number): void {
    this.grow(8);
    new DataView(this.store.buffer).setFloat64(this.used, value, true);
    this.used += 8;
  }

  float(value: number): void {
    this.grow(4);
    new DataView(this.store.buffer).setFloat32(this.used, value, true);
    this.used += 4;
  }

  /** Writes a string field. Returns the offset of its first byte. */
  string(fieldNumber: number, value: string): number {
    return this.bytes(fieldNumber, encoder.encode(value));
  }

  /** Writes a bytes or message field. Returns the offset of its first byte. */
  bytes(fieldNumber: number, value: Uint8Array): number {
    this.tag(fieldNumber, WIRE.bytes);
    this.varint(value.length);
    this.grow(value.length);
    this.store.set(value, this.used);
    this.used += value.length;
    return this.used - value.length;
  }

  private byte(value: number): void {
    this.grow(1);
    this.store[this.used++] = value;
  }

  private grow(extra: number): void {
    if (this.used + extra <= this.store.length) return;
    const grown = new Uint8Array(Math.max(this.used + extra, this.store.length * 2));
    grown.set(this.store.subarray(0, this.used));
    this.store = grown;
  }
}

/** Reads the fields of one message in order. @throws ProtocolError if they violate the format */
export class ProtoReader {
  private store: Uint8Array;
  private end: number;
  /** Offset of the next byte to read. */
  position: number;
  private low = 0;
  private high = 0;
  /** Number of the last field read. */
  fieldNumber = 0;
  /** Wire type of the last field read. */
  wireType = 0;

  /** Reads the message in `bytes[start, end)`; default: all of `bytes`. */
  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.store = bytes;
    this.position = start;
    this.end = end;
  }

  /** Moves to another message, `bytes[start, end)`, so that frequent messages need no new reader. */
  reset(bytes: Uint8Array, start: number, end: number): void {
    this.store = bytes;
    this.position = start;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.position >= this.end;
  }

  /** Moves to the next field. Returns false at the end. */
  next(): boolean {
    if (this.isAtEnd) return false;
    const tag = this.varint();
    this.fieldNumber = Math.floor(tag / 8);
    this.wireType = tag % 8;
    if (this.fieldNumber === 0) throw new ProtocolError("protobuf field number 0");
    return true;
  }

  /** Reads an unsigned varint. Above 2^53 it is rounded. */
  varint(): number {
    const first = this.store[this.position] as number;
    if (first < 0x80 && this.position < this.end) {
      this.position++;
      return first;
    }
    this.readHalves();
    return this.high * 2 ** 32 + this.low;
  }

  /** Reads a signed 32- or 64-bit varint in two's complement. */
  signedVarint(): number {
    this.readHalves();
    const high = this.high >= 2 ** 31 ? this.high - 2 ** 32 : this.high;
    return high * 2 ** 32 + this.low;
  }

  /** Writes an unsigned or signed 64-bit varint exactly, as 8 little-endian bytes. */
  varint64Into(view: DataView, offset: number): void {
    this.readHalves();
    view.setUint32(offset, this.low, true);
    view.setUint32(offset + 4, this.high, true);
  }

  double(): number {
    const at = this.advance(8);
    return this.viewAt(at, 8).getFloat64(0, true);
  }

  float(): number {
    const at = this.advance(4);
    return this.viewAt(at, 4).getFloat32(0, true);
  }

  /** Skips a length-delimited field. Returns its length; {@link position} is its end. */
  passBytes(): number {
    const size = this.varint();
    this.advance(size);
    return size;
  }

  /** Returns a length-delimited field as a view into the message. */
  bytes(): Uint8Array {
    const size = this.varint();
    const at = this.advance(size);
    return this.store.subarray(at, at + size);
  }

  /** Returns a reader of the message in a length-delimited field. */
  message(): ProtoReader {
    const size = this.varint();
    const at = this.advance(size);
    return new ProtoReader(this.store, at, at + size);
  }

  /** Moves `reader` to the message in a length-delimited field. */
  messageInto(reader: ProtoReader): void {
    const size = this.passBytes();
    reader.reset(this.store, this.position - size, this.position);
  }

  /** Reads a length-delimited field. Returns whether it equals these bytes. */
  isBytes(expected: Uint8Array): boolean {
    const size = this.passBytes();
    return size === expected.length && isSameBytes(this.store, this.position - size, expected, 0, size);
  }

  string(): string {
    const size = this.varint();
    const at = this.advance(size);
    if (size <= SHORT_BYTES && isAscii(this.store, at, at + size)) return latin1Text(this.store, at, at + size);
    return decoder.decode(this.store.subarray(at, at + size));
  }

  skip(): void {
    if (this.wireType === WIRE.varint) this.varint();
    else if (this.wireType === WIRE.bytes) this.passBytes();
    else if (this.wireType === WIRE.fixed64) this.advance(8);
    else if (this.wireType === WIRE.fixed32) this.advance(4);
    else throw new ProtocolError(`protobuf wire type ${this.wireType}`);
  }

  /** Reads a varint into its lower and upper 32 bits, because a single number cannot represent it exactly. */
  private readHalves(): void {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.isAtEnd) throw new ProtocolError(ENDS_IN_VARINT);
      const byte = this.store[this.position++] as number;
      const bits = byte & 0x7f;
      if (shift < 28) low += bits * 2 ** shift;
      else if (shift === 28) {
        low += (bits & 0x0f) * 2 ** 28;
        high += bits >>> 4;
      } else if (shift < 63) high += bits * 2 ** (shift - 32);
      else high += (bits & 1) * 2 ** 31;
      if ((byte & 0x80) !== 0) continue;
      this.low = low;
      this.high = high;
      return;
    }
    throw new ProtocolError(LONG_VARINT);
  }

  /** Created for each number, because few messages have fixed-size numbers. */
  private viewAt(at: number, size: number): DataView {
    return new DataView(this.store.buffer, this.store.byteOffset + at, size);
  }

  private advance(size: number): number {
    const at = this.position;
    if (at + size > this.end) throw new ProtocolError(PAST_MESSAGE);
    this.position = at + size;
    return at;
  }
}

function isAscii(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((bytes[i] as number) >= 0x80) return false;
  return true;
}
