import { MAX_JSON_DEPTH, TOO_DEEP } from "../plan/document/json-depth.ts";
import { userError } from "../plan/problem.ts";
import { MOST_FILE_BYTES } from "../runtime/files.ts";

/** Reads bytes in sequence. */
export interface ByteSource {
  /** Fills the array from its start; returns the number of bytes, 0 at the end. */
  read(into: Uint8Array): number;
  close(): void;
}

/** Position of a value in a file, in bytes. */
export interface Extent {
  readonly offset: number;
  readonly byteCount: number;
}

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;
const COLON = 0x3a;
const BOM = [0xef, 0xbb, 0xbf];

const INITIAL_BYTES = 256 * 1024;

/**
 * Scans JSON text of any length and extracts single values, so that at most one value is in memory. Walk the outer structure with `members`
 * and `items`. Consume each of their values with `text`, `value`, `skip`, `extent`, `members` or `items`. Nested values are not validated;
 * `JSON.parse` does that. Every method throws `UserError` with the file's name, `place` and the byte offset if the text is not valid.
 */
export class JsonScanner {
  /** The part of the file being read, for error messages. */
  place = "";
  private readonly source: ByteSource;
  private readonly name: string;
  private readonly hint: string;
  private buffer = new Uint8Array(INITIAL_BYTES);
  private position = 0;
  private end = 0;
  /** Offset in the file of the buffer's first byte. */
  private dropped = 0;
  /** Start of the bytes to keep; undefined if bytes before the position are not needed. */
  private mark: number | undefined;
  private readonly decoder = new TextDecoder();

  /** @param hint hint of every error */
  constructor(
    source: ByteSource,
    name: string,
    hint = "Give a complete, unchanged profile export of perf_analyzer or rampart.",
  ) {
    this.source = source;
    this.name = name;
    this.hint = hint;
    if (BOM.every((byte, i) => this.byteAt(i) === byte)) this.position = BOM.length;
  }

  /** Yields the keys of the next value, an object. Consume each key's value before the next key. */
  *members(): Generator<string> {
    this.take(OPEN_BRACE, "an object");
    if (this.tryTake(CLOSE_BRACE)) return;
    do {
      if (this.peek() !== QUOTE) this.fail("a key in quotes is missing");
      const key = this.parse(this.text()) as string;
      this.take(COLON, "a colon");
      yield key;
    } while (this.tryTake(COMMA));
    this.take(CLOSE_BRACE, "a comma or a closing brace");
  }

  /** Yields the indexes of the next value, an array. Consume each item before the next index. */
  *items(): Generator<number> {
    this.take(OPEN_BRACKET, "an array");
    if (this.tryTake(CLOSE_BRACKET)) return;
    let index = 0;
    do yield index++;
    while (this.tryTake(COMMA));
    this.take(CLOSE_BRACKET, "a comma or a closing bracket");
  }

  /** Yields the lines of the rest of the file, with their positions. The last line may lack a line feed. */
  *lines(): Generator<Extent & { readonly text: string }> {
    for (let isLast = false; !isLast; ) {
      let byteCount = 0;
      for (let feed = -1; feed < 0 && !isLast; ) {
        feed = this.buffer.subarray(this.position + byteCount, this.end).indexOf(LINE_FEED);
        byteCount = feed < 0 ? this.end - this.position : byteCount + feed;
        isLast = feed < 0 && !this.fill();
      }
      const text = this.decoder.decode(this.buffer.subarray(this.position, this.position + byteCount));
      yield { text, offset: this.dropped + this.position, byteCount };
      this.position += byteCount + 1;
    }
  }

  /** Returns the text of the next value. */
  text(): string {
    this.peek();
    this.mark = this.position;
    this.walk();
    const bytes = this.buffer.subarray(this.mark, this.position);
    this.mark = undefined;
    return this.decoder.decode(bytes);
  }

  value(): unknown {
    return this.parse(this.text());
  }

  /** Skips the next value, of any size, in constant memory. */
  skip(): void {
    this.peek();
    this.walk();
  }

  /** Whether the next value is an array. */
  isAtArray(): boolean {
    return this.peek() === OPEN_BRACKET;
  }

  /** Whether the next value is an array or an object. */
  isAtNested(): boolean {
    const byte = this.peek();
    return byte === OPEN_BRACKET || byte === OPEN_BRACE;
  }

  /** Position in the file, in bytes. */
  get offset(): number {
    return this.dropped + this.position;
  }

  /** Skips the next value and returns its position in the file. */
  extent(): Extent {
    this.peek();
    const { offset } = this;
    this.walk();
    return { offset, byteCount: this.offset - offset };
  }

  /** @throws UserError with this message and the current position */
  fail(message: string): never {
    const place = this.place === "" ? "" : `, ${this.place}`;
    throw userError("not-json", `${this.name}${place}, byte ${this.dropped + this.position}`, message, this.hint);
  }

  private parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      return this.fail(`this is not JSON: ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`);
    }
  }

  /** Skips white space and returns the next byte. */
  private peek(): number {
    for (;;) {
      const byte = this.byteAt(this.position);
      if (byte === undefined) return this.fail("the file ends too early");
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
      this.position++;
    }
  }

  private take(byte: number, what: string): void {
    if (!this.tryTake(byte)) this.fail(`${what} is missing`);
  }

  private tryTake(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.position++;
    return true;
  }

  /** Moves to the end of the value at the position. */
  private walk(): void {
    const first = this.buffer[this.position];
    if (first === QUOTE || first === OPEN_BRACE || first === OPEN_BRACKET) this.walkNested();
    else this.walkScalar();
  }

  private walkScalar(): void {
    const start = this.dropped + this.position;
    for (;;) {
      const byte = this.byteAt(this.position);
      if (byte === undefined || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= 0x20) break;
      this.position++;
    }
    if (this.dropped + this.position === start) this.fail("a value is missing");
  }

  private walkNested(): void {
    let depth = 0;
    let isInString = false;
    let { buffer, position, end } = this;
    for (;;) {
      if (position >= end) {
        this.position = position;
        if (!this.fill()) this.fail("the file ends too early");
        ({ buffer, position, end } = this);
        continue;
      }
      const byte = buffer[position++] as number;
      if (isInString) {
        if (byte === BACKSLASH)
          position++; // may be beyond the buffer's end; then the first byte of the next read is skipped
        else if (byte === QUOTE) isInString = false;
        else continue;
      } else if (byte === QUOTE) isInString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
      else continue;
      if (depth === 0 && !isInString) break;
      if (depth > MAX_JSON_DEPTH) this.failTooDeep(position);
    }
    this.position = position;
  }

  private failTooDeep(position: number): never {
    this.position = position;
    return this.fail(`a value ${TOO_DEEP}`);
  }

  private byteAt(index: number): number | undefined {
    if (index < this.end) return this.buffer[index];
    const ahead = index - this.position;
    return this.fill() ? this.byteAt(this.position + ahead) : undefined;
  }

  /** Reads more bytes, and drops consumed bytes that are not marked. Returns false at the end of the file. */
  private fill(): boolean {
    const keepFrom = Math.min(this.mark ?? this.position, this.end);
    this.buffer.copyWithin(0, keepFrom, this.end);
    this.dropped += keepFrom;
    this.position -= keepFrom;
    this.end -= keepFrom;
    if (this.mark !== undefined) this.mark = 0;
    if (this.end === this.buffer.length) {
      if (this.end >= MOST_FILE_BYTES) this.fail(`a value or line is longer than ${MOST_FILE_BYTES / 2 ** 20} MiB`);
      const grown = new Uint8Array(2 * this.buffer.length);
      grown.set(this.buffer);
      this.buffer = grown;
    }
    const count = this.source.read(this.buffer.subarray(this.end));
    this.end += count;
    return count > 0;
  }
}
