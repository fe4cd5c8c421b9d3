import { encoder } from "../runtime/text.ts";
/** Largest token id. Real vocabularies have at most some hundred thousand tokens. */
export const MAX_TOKEN_ID = 2 ** 22;

/** Longer texts are rare. */
const SCRATCH_BYTES = 256;

/**
 * Tokens by their bytes, and by their ids, in typed arrays: strings in a `Map` take four times the memory, and every thread that counts
 * tokens has a table.
 */
export class TokenTable {
  private count = 0;
  /** The bytes of all tokens, one after the other. */
  private bytes = Buffer.alloc(1 << 12);
  /** Where each token's bytes start; the next one's start is their end. */
  private starts = new Int32Array(1 << 8);
  private ids = new Int32Array(1 << 8);
  /** Index of a token + 1, by its id; 0 for an id without a token. */
  private byId = new Int32Array(1 << 8);
  /** Index of a token + 1, at a place that its hash determines; 0 for a free one. */
  private places = new Int32Array(1 << 10);
  private readonly scratch = new Uint8Array(SCRATCH_BYTES);

  /** Number of tokens. */
  get size(): number {
    return this.count;
  }

  /** Adds a token; a later id of the same token replaces the earlier one. @param id from 0 to {@link MAX_TOKEN_ID} */
  set(source: Uint8Array, start: number, end: number, id: number): void {
    const place = this.find(source, start, end);
    let index = (this.places[place] as number) - 1;
    if (index < 0) {
      index = this.append(source, start, end);
      this.places[place] = index + 1;
    } else if (this.byId[this.ids[index] as number] === index + 1) this.byId[this.ids[index] as number] = 0;
    this.ids[index] = id;
    this.byId = withRoom(this.byId, id + 1);
    this.byId[id] = index + 1;
    if (4 * this.count > 3 * this.places.length) this.rehash();
  }

  /** Adds a token by its text. */
  setText(token: string, id: number): void {
    const bytes = encoder.encode(token);
    this.set(bytes, 0, bytes.length, id);
  }

  /** Returns a token's id; -1 if it is missing. */
  idAt(source: Uint8Array, start: number, end: number): number {
    const index = (this.places[this.find(source, start, end)] as number) - 1;
    return index < 0 ? -1 : (this.ids[index] as number);
  }

  idOf(token: string): number | undefined {
    const bytes = 3 * token.length <= SCRATCH_BYTES ? this.scratch : new Uint8Array(3 * token.length);
    const { written } = encoder.encodeInto(token, bytes);
    const id = this.idAt(bytes, 0, written);
    return id < 0 ? undefined : id;
  }

  /** Returns the id of the token that two tokens together are; -1 if it is missing. */
  idOfPair(left: number, right: number): number {
    const [first, second] = [this.bytesAt(left), this.bytesAt(right)];
    if (first === undefined || second === undefined) return -1;
    const length = first.length + second.length;
    const bytes = length <= SCRATCH_BYTES ? this.scratch : new Uint8Array(length);
    bytes.set(first);
    bytes.set(second, first.length);
    return this.idAt(bytes, 0, length);
  }

  /** Returns the bytes of the token with this id, which must not be changed; undefined for an id without a token. */
  bytesAt(id: number): Uint8Array | undefined {
    const index = (this.byId[id] ?? 0) - 1;
    if (index < 0) return undefined;
    return this.bytes.subarray(this.starts[index], this.starts[index + 1]);
  }

  tokenOf(id: number): string | undefined {
    const index = (this.byId[id] ?? 0) - 1;
    return index < 0 ? undefined : this.bytes.toString("utf8", this.starts[index], this.starts[index + 1]);
  }

  private append(source: Uint8Array, start: number, end: number): number {
    const index = this.count++;
    const from = this.starts[index] as number;
    const to = from + end - start;
    if (to > this.bytes.length) this.bytes = Buffer.concat([this.bytes], Math.ceil(1.5 * to));
    for (let at = start; at < end; at++) this.bytes[from + at - start] = source[at] as number;
    this.starts = withRoom(this.starts, index + 2);
    this.starts[index + 1] = to;
    this.ids = withRoom(this.ids, index + 1);
    return index;
  }

  /** Returns the place of a token: where it is, or where it would be added. */
  private find(source: Uint8Array, start: number, end: number): number {
    const { places } = this;
    const mask = places.length - 1;
    for (let place = hashOf(source, start, end) & mask; ; place = (place + 1) & mask) {
      const index = (places[place] as number) - 1;
      if (index < 0 || this.isAt(index, source, start, end)) return place;
    }
  }

  private isAt(index: number, source: Uint8Array, start: number, end: number): boolean {
    const { bytes } = this;
    const from = this.starts[index] as number;
    if ((this.starts[index + 1] as number) - from !== end - start) return false;
    for (let at = start; at < end; at++) if (source[at] !== bytes[from + at - start]) return false;
    return true;
  }

  private rehash(): void {
    this.places = new Int32Array(2 * this.places.length);
    for (let index = 0; index < this.count; index++) {
      const [start, end] = [this.starts[index] as number, this.starts[index + 1] as number];
      this.places[this.find(this.bytes, start, end)] = index + 1;
    }
  }
}

/** FNV-1a. */
function hashOf(source: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (source[at] as number), 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Returns the array, or a copy at least half as long again in which `length` numbers have room. */
function withRoom(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  if (length <= array.length) return array;
  const larger = new Int32Array(Math.max(length, Math.ceil(1.5 * array.length)));
  larger.set(array);
  return larger;
}
