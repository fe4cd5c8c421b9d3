import { ProtocolError } from "../../transport/failure.ts";
import { LONG_VARINT, PAST_MESSAGE, WIRE } from "./wire.ts";

/** Initial size of the buffer. */
const FIRST_BYTES = 256;

/**
 * Parses the fields of one message, which may arrive in pieces. Keeps all of them except one bulk field, of which only the lengths are
 * kept, so that a long response is checked without copying its data.
 */
export class MessageOutline {
  /** Lengths of the bulk field's values, in order. */
  readonly bulkLengths: number[] = [];
  /** `from, to` pairs of the offsets of the values of `bulkField` and `namedField` in the message, ascending. */
  readonly places: number[] = [];
  private readonly bulkField: number;
  private readonly namedField: number;
  private kept = new Uint8Array(FIRST_BYTES);
  private keptBytes = 0;
  /** Number of parsed bytes. */
  private position = 0;
  /** Bytes of the current field's tag and length so far. */
  private readonly prefix = new Uint8Array(20);
  private prefixBytes = 0;
  private tag = -1;
  private shift = 1;
  private value = 0;
  /** Remaining bytes of the current value. */
  private rest = 0;
  private isSkipping = false;

  /** @param bulkField number of the field whose values are not kept @param namedField number of another field whose offsets are recorded */
  constructor(bulkField: number, namedField: number) {
    this.bulkField = bulkField;
    this.namedField = namedField;
  }

  /** Begins the next message. */
  reset(): void {
    this.bulkLengths.length = 0;
    this.places.length = 0;
    this.keptBytes = 0;
    this.position = 0;
    this.rest = 0;
    this.startPrefix();
  }

  /** Parses the next bytes. @throws ProtocolError */
  feed(bytes: Uint8Array, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.rest > 0) {
        const size = Math.min(this.rest, end - at);
        if (!this.isSkipping) this.keep(bytes, at, at + size);
        this.rest -= size;
        this.position += size;
        at += size;
        continue;
      }
      this.readPrefix(bytes[at++] as number);
    }
  }

  /** Returns a copy of the message without its bulk field. @throws ProtocolError if it ends within a field */
  finish(): Uint8Array {
    if (this.rest > 0 || this.prefixBytes > 0) throw new ProtocolError(PAST_MESSAGE);
    return this.kept.slice(0, this.keptBytes);
  }

  /** Parses a byte of a tag, a length or a number. */
  private readPrefix(byte: number): void {
    this.position++;
    if (this.prefixBytes === this.prefix.length) throw new ProtocolError(LONG_VARINT);
    this.prefix[this.prefixBytes++] = byte;
    this.value += (byte & 0x7f) * this.shift;
    this.shift *= 128;
    if ((byte & 0x80) !== 0) return;
    if (this.tag < 0) this.readTag(this.value);
    else if (this.tag % 8 === WIRE.bytes) this.beginValue(this.value);
    else this.endPrefix();
    this.value = 0;
    this.shift = 1;
  }

  private readTag(tag: number): void {
    const wireType = tag % 8;
    if (tag < 8) throw new ProtocolError("protobuf field number 0");
    this.tag = tag;
    if (wireType === WIRE.fixed64) this.beginValue(8);
    else if (wireType === WIRE.fixed32) this.beginValue(4);
    else if (wireType !== WIRE.varint && wireType !== WIRE.bytes)
      throw new ProtocolError(`protobuf wire type ${wireType}`);
  }

  private beginValue(size: number): void {
    const field = Math.floor(this.tag / 8);
    const isBulk = field === this.bulkField;
    if (isBulk && this.tag % 8 !== WIRE.bytes)
      throw new ProtocolError(`protobuf field ${field} has wire type ${this.tag % 8}, expected ${WIRE.bytes}`);
    if (isBulk) this.bulkLengths.push(size);
    if ((isBulk || field === this.namedField) && size > 0) this.places.push(this.position, this.position + size);
    this.rest = size;
    this.isSkipping = isBulk;
    if (isBulk) this.startPrefix();
    else this.endPrefix();
  }

  private endPrefix(): void {
    this.keep(this.prefix, 0, this.prefixBytes);
    this.startPrefix();
  }

  private startPrefix(): void {
    this.prefixBytes = 0;
    this.tag = -1;
    this.value = 0;
    this.shift = 1;
  }

  private keep(bytes: Uint8Array, start: number, end: number): void {
    const needed = this.keptBytes + end - start;
    if (needed > this.kept.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.kept.length));
      grown.set(this.kept.subarray(0, this.keptBytes));
      this.kept = grown;
    }
    this.kept.set(bytes.subarray(start, end), this.keptBytes);
    this.keptBytes = needed;
  }
}

/** Returns the `from, to` pairs between places, from the start to the end of a message of `length` bytes. */
export function betweenPlaces(places: readonly number[], length: number): number[] {
  const between: number[] = [];
  let from = 0;
  for (let i = 0; i < places.length; i += 2) {
    if ((places[i] as number) > from) between.push(from, places[i] as number);
    from = places[i + 1] as number;
  }
  if (length > from) between.push(from, length);
  return between;
}
