import { ProtocolError } from "../failure.ts";
import type { Header } from "../request.ts";
import { decodeHuffman } from "./huffman.ts";

/** The static table (RFC 7541, appendix A): names and values alternate; index 1 is the first pair. */
// biome-ignore format: a pair per line
const STATIC_TABLE: readonly string[] = [
  ":authority", "",
  ":method", "GET",
  ":method", "POST",
  ":path", "/",
  ":path", "/index.html",
  ":scheme", "http",
  ":scheme", "https",
  ":status", "200",
  ":status", "204",
  ":status", "206",
  ":status", "304",
  ":status", "400",
  ":status", "404",
  ":status", "500",
  "accept-charset", "",
  "accept-encoding", "gzip, deflate",
  "accept-language", "",
  "accept-ranges", "",
  "accept", "",
  "access-control-allow-origin", "",
  "age", "",
  "allow", "",
  "authorization", "",
  "cache-control", "",
  "content-disposition", "",
  "content-encoding", "",
  "content-language", "",
  "content-length", "",
  "content-location", "",
  "content-range", "",
  "content-type", "",
  "cookie", "",
  "date", "",
  "etag", "",
  "expect", "",
  "expires", "",
  "from", "",
  "host", "",
  "if-match", "",
  "if-modified-since", "",
  "if-none-match", "",
  "if-range", "",
  "if-unmodified-since", "",
  "last-modified", "",
  "link", "",
  "location", "",
  "max-forwards", "",
  "proxy-authenticate", "",
  "proxy-authorization", "",
  "range", "",
  "referer", "",
  "refresh", "",
  "retry-after", "",
  "server", "",
  "set-cookie", "",
  "strict-transport-security", "",
  "transfer-encoding", "",
  "user-agent", "",
  "vary", "",
  "via", "",
  "www-authenticate", "",
];

const FIRST_DYNAMIC_INDEX = STATIC_TABLE.length / 2 + 1;
const ENTRY_OVERHEAD_BYTES = 32; // RFC 7541, 4.1
const DEFAULT_TABLE_BYTES = 4096; // the peer's size before its SETTINGS, and the maximum that this side uses
const MAX_HEADER_LIST_BYTES = 1024 * 1024; // 1 MiB of decoded headers, far above any real response

const decoder = new TextDecoder("utf-8");
const encoder = new TextEncoder();

/**
 * HPACK decoder (RFC 7541) for the header blocks of one connection, in order. After an error the connection cannot be used.
 * @throws ProtocolError
 */
export class HpackDecoder {
  /** Increases whenever the dynamic table changes. */
  generation = 0;
  private readonly capacityLimit: number;
  private capacity: number;
  private size = 0;
  /** Entries of the dynamic table, newest first, like its indexes. */
  private readonly dynamic: Header[] = [];
  /** Sizes of the entries of `dynamic`, in bytes. */
  private readonly sizes: number[] = [];

  /** @param tableBytes the maximum size of the dynamic table */
  constructor(tableBytes: number) {
    this.capacityLimit = tableBytes;
    this.capacity = tableBytes;
  }

  decode(block: Uint8Array): Header[] {
    const headers: Header[] = [];
    const reader = new BlockReader(block);
    let listBytes = 0;
    while (!reader.isAtEnd) {
      const first = reader.peek();
      if ((first & 0xe0) === 0x20) {
        this.resize(reader.integer(5));
        continue;
      }
      const header = this.field(reader, first);
      listBytes += header[0].length + header[1].length + ENTRY_OVERHEAD_BYTES;
      if (listBytes > MAX_HEADER_LIST_BYTES) throw new ProtocolError("header list is too large");
      headers.push(header);
    }
    return headers;
  }

  private field(reader: BlockReader, first: number): Header {
    if ((first & 0x80) !== 0) return this.entry(reader.integer(7));
    const isIndexing = (first & 0x40) !== 0;
    const nameIndex = reader.integer(isIndexing ? 6 : 4);
    const name = nameIndex === 0 ? reader.string() : this.entry(nameIndex)[0];
    const nameBytes = nameIndex === 0 ? reader.stringBytes : name.length;
    const header: Header = [name, reader.string()];
    // The table counts bytes, whose number differs from the text's length for non-ASCII characters.
    if (isIndexing) this.add(header, nameBytes + reader.stringBytes + ENTRY_OVERHEAD_BYTES);
    return header;
  }

  private entry(index: number): Header {
    const entry = index < FIRST_DYNAMIC_INDEX ? staticEntry(index) : this.dynamic[index - FIRST_DYNAMIC_INDEX];
    if (entry === undefined) throw new ProtocolError(`header index ${index} is not in the table`);
    return entry;
  }

  private add(header: Header, size: number): void {
    this.evictTo(this.capacity - size);
    if (size > this.capacity) return;
    this.dynamic.unshift(header);
    this.sizes.unshift(size);
    this.size += size;
    this.generation++;
  }

  private resize(capacity: number): void {
    if (capacity > this.capacityLimit)
      throw new ProtocolError(`header table size ${capacity} is above the announced limit`);
    if (capacity !== this.capacity) this.generation++;
    this.capacity = capacity;
    this.evictTo(capacity);
  }

  private evictTo(limit: number): void {
    while (this.size > Math.max(0, limit)) {
      this.dynamic.pop();
      this.size -= this.sizes.pop() as number;
      this.generation++;
    }
  }
}

function staticEntry(index: number): Header | undefined {
  const name = STATIC_TABLE[index * 2 - 2];
  return name === undefined ? undefined : [name, STATIC_TABLE[index * 2 - 1] as string];
}

class BlockReader {
  /** Decoded bytes of the last string. */
  stringBytes = 0;
  private readonly block: Uint8Array;
  private position = 0;

  constructor(block: Uint8Array) {
    this.block = block;
  }

  get isAtEnd(): boolean {
    return this.position >= this.block.length;
  }

  peek(): number {
    return this.byteAt(this.position);
  }

  /** Reads an integer with a prefix of `prefixBits` bits (RFC 7541, 5.1). */
  integer(prefixBits: number): number {
    const max = 2 ** prefixBits - 1;
    let value = this.byteAt(this.position++) & max;
    if (value < max) return value;
    for (let shift = 0; ; shift += 7) {
      if (shift > 28) throw new ProtocolError("header integer is too large");
      const byte = this.byteAt(this.position++);
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return value;
    }
  }

  string(): string {
    const isHuffman = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    const start = this.position;
    const end = start + length;
    if (end > this.block.length) throw new ProtocolError("header string reaches past its block");
    this.position = end;
    const bytes = isHuffman ? new Uint8Array(decodeHuffman(this.block, start, end)) : this.block.subarray(start, end);
    this.stringBytes = bytes.length;
    return decoder.decode(bytes);
  }

  private byteAt(position: number): number {
    const byte = this.block[position];
    if (byte === undefined) throw new ProtocolError("header block ends early");
    return byte;
  }
}

/**
 * HPACK encoder for one header list that is sent with every request of a connection. The first block adds the headers to the peer's
 * dynamic table; later blocks consist of a few index bytes. Strings are not Huffman-coded.
 */
export class RepeatedHeaders {
  /** Size of the dynamic table last signalled to the peer, in bytes. Default: 4096. */
  signalledBytes: number;
  private readonly headers: readonly Header[];
  /** Index of each header in the static table, or 0. */
  private readonly staticIndexes: readonly number[];
  private isIndexed = false;
  private indexedBlock: Uint8Array | undefined;
  private readonly indexedCount: number;
  private readonly tableBytes: number;

  /** @param signalledBytes final `signalledBytes` of the previous header list on the same connection */
  constructor(headers: readonly Header[], signalledBytes = DEFAULT_TABLE_BYTES) {
    this.headers = headers;
    this.signalledBytes = signalledBytes;
    const staticIndexes: number[] = [];
    let tableBytes = 0;
    let indexedCount = 0;
    for (const header of headers) {
      const index = staticIndexOf(header);
      staticIndexes.push(index);
      if (index > 0) continue;
      indexedCount++;
      tableBytes += encoder.encode(header[0] + header[1]).length + ENTRY_OVERHEAD_BYTES;
    }
    this.staticIndexes = staticIndexes;
    this.tableBytes = tableBytes;
    this.indexedCount = indexedCount;
  }

  /** Returns the block for the next request. @param peerTableBytes the peer's SETTINGS_HEADER_TABLE_SIZE */
  nextBlock(peerTableBytes: number): Uint8Array {
    const limit = Math.min(peerTableBytes, DEFAULT_TABLE_BYTES);
    if (limit !== this.signalledBytes) return this.resized(limit);
    if (limit < DEFAULT_TABLE_BYTES || this.tableBytes > DEFAULT_TABLE_BYTES) return encodeLiterally(this.headers);
    if (this.isIndexed) {
      this.indexedBlock ??= encodeIndexed(this.staticIndexes, this.indexedCount);
      return this.indexedBlock;
    }
    this.isIndexed = true;
    return encodeWithIndexing(this.headers, this.staticIndexes);
  }

  /** Signals a changed table size at the start of the next block (RFC 7541, 4.2), and fills the table again. */
  private resized(limit: number): Uint8Array {
    this.signalledBytes = limit;
    this.isIndexed = false;
    const update: number[] = [];
    putInteger(update, 0x20, 5, limit);
    return new Uint8Array([...update, ...this.nextBlock(limit)]);
  }
}

/** Encodes a header list without using or changing the dynamic table. Valid at any time on any connection. */
export function encodeLiterally(headers: readonly Header[]): Uint8Array {
  const out: number[] = [];
  for (const header of headers) {
    const index = staticIndexOf(header);
    if (index > 0) out.push(0x80 | index);
    else putLiteral(out, 0x00, 4, header);
  }
  return new Uint8Array(out);
}

function encodeWithIndexing(headers: readonly Header[], staticIndexes: readonly number[]): Uint8Array {
  const out: number[] = [];
  for (let i = 0; i < headers.length; i++) {
    const index = staticIndexes[i] as number;
    if (index > 0) out.push(0x80 | index);
    else putLiteral(out, 0x40, 6, headers[i] as Header);
  }
  return new Uint8Array(out);
}

/** Encodes the same list when all its literals are in the dynamic table, the last one as the newest entry. */
function encodeIndexed(staticIndexes: readonly number[], indexedCount: number): Uint8Array {
  const out: number[] = [];
  let dynamicIndex = FIRST_DYNAMIC_INDEX + indexedCount - 1;
  for (const index of staticIndexes) {
    putInteger(out, 0x80, 7, index > 0 ? index : dynamicIndex--);
  }
  return new Uint8Array(out);
}

function putLiteral(out: number[], pattern: number, prefixBits: number, [name, value]: Header): void {
  const nameIndex = staticNameIndexOf(name);
  putInteger(out, pattern, prefixBits, nameIndex);
  if (nameIndex === 0) putString(out, name);
  putString(out, value);
}

function putString(out: number[], text: string): void {
  const bytes = encoder.encode(text);
  putInteger(out, 0x00, 7, bytes.length);
  for (let i = 0; i < bytes.length; i++) out.push(bytes[i] as number);
}

function putInteger(out: number[], pattern: number, prefixBits: number, value: number): void {
  const max = 2 ** prefixBits - 1;
  if (value < max) {
    out.push(pattern | value);
    return;
  }
  out.push(pattern | max);
  let rest = value - max;
  for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) | 0x80);
  out.push(rest);
}

/** Returns the static table's index of this header; 0 when it is not in the table. */
function staticIndexOf([name, value]: Header): number {
  if (value === "") return 0;
  // Entries with the same name are adjacent.
  for (let index = staticNameIndexOf(name); index > 0 && STATIC_TABLE[index * 2 - 2] === name; index++)
    if (STATIC_TABLE[index * 2 - 1] === value) return index;
  return 0;
}

/** Returns the first index of the static table with this name; 0 if it is not in the table. */
function staticNameIndexOf(name: string): number {
  const place = STATIC_TABLE.indexOf(name);
  return place >= 0 && place % 2 === 0 ? place / 2 + 1 : 0;
}
