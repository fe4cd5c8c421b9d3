/** Numbers and bytes for another thread or host, in two arrays: packing is cheap, and nothing is copied twice. */

/** Packed numbers and bytes: plain data. */
export interface PackedBytes {
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const FIRST_BYTES = 64 * 1024;
/** A package is sent when it reaches this many bytes. */
export const FULL_BYTES = 256 * 1024;

const decoder = new TextDecoder();

/** Packs numbers, with pieces of bytes in between. */
export class BytePacker {
  numbers: number[] = [];
  byteCount = 0;
  private bytes = new Uint8Array(FIRST_BYTES);

  /** Appends the length of a piece as a number, and the piece. */
  append(piece: Uint8Array): void {
    this.numbers.push(piece.length);
    this.appendBytes(piece);
  }

  /** Appends a part of one or several pieces, whose lengths must have been added to {@link numbers}. */
  appendBytes(part: Uint8Array): void {
    const needed = this.byteCount + part.length;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
      grown.set(this.bytes.subarray(0, this.byteCount));
      this.bytes = grown;
    }
    this.bytes.set(part, this.byteCount);
    this.byteCount = needed;
  }

  /** Returns everything packed since the last call. */
  take(): PackedBytes {
    const packed = { numbers: Float64Array.from(this.numbers), bytes: this.bytes.slice(0, this.byteCount) };
    this.numbers = [];
    this.byteCount = 0;
    return packed;
  }
}

/** Reads a package in the order in which it was packed. */
export class PackageReader {
  private readonly numbers: Float64Array;
  private readonly bytes: Uint8Array;
  private at = 0;
  private offset = 0;

  constructor({ numbers, bytes }: PackedBytes) {
    this.numbers = numbers;
    this.bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.at >= this.numbers.length;
  }

  number(): number {
    return this.numbers[this.at++] as number;
  }

  /** Decodes the next pieces. Text of one byte per character is decoded in one step, which takes a third of the time. */
  texts(lengths: Float64Array): string[] {
    const { offset } = this;
    const all = decoder.decode(this.piece(lengths.reduce((sum, length) => sum + length, 0)));
    const isBytewise = all.length === this.offset - offset;
    let end = 0;
    return Array.from(lengths, (length) => {
      end += length;
      return isBytewise
        ? all.slice(end - length, end)
        : decoder.decode(this.bytes.subarray(offset + end - length, offset + end));
    });
  }

  /** Returns a view of the next piece. @param length default: the next number */
  piece(length = this.number()): Uint8Array {
    this.offset += length;
    return this.bytes.subarray(this.offset - length, this.offset);
  }
}
