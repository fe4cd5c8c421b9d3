import { copyBytes, joinBytes, NO_BYTES } from "../runtime/bytes.ts";

const BLOCK_BYTES = 4096;
const MOST_FREE_BLOCKS = 256;
/** Blocks of this thread that no stream uses. */
const freeBlocks: Uint8Array[] = [];

/** Receives the bytes of an event, `bytes[start, end)`. */
export type VisitEvent = (bytes: Uint8Array, start: number, end: number) => void;

/**
 * The events of a stream, one after another in blocks of memory that are used again. As separate objects they would cost more than
 * receiving them, survive collections of young garbage, and stay in memory until a full collection.
 */
export class KeptEvents {
  /** Read time of each event. */
  readonly readsNs: number[] = [];
  /** Number of bytes of each event. */
  readonly lengths: number[] = [];
  /** A longer event has a separate block. */
  private readonly blocks: Uint8Array[] = [];
  /** Used bytes of each block before the last one. */
  private readonly usedBytes: number[] = [];
  /** The last block, its used bytes and its size; before the first one, not even an event without bytes has room. */
  private block: Uint8Array = NO_BYTES;
  private used = 0;
  private size = -1;

  get count(): number {
    return this.lengths.length;
  }

  /** Adds an event. Returns the bytes of memory that it needed in addition. */
  add(readNs: number, bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    let addedBytes = 0;
    if (this.used + length > this.size) {
      this.openBlock(length);
      addedBytes = this.size;
    }
    copyBytes(bytes, start, end, this.block, this.used);
    this.used += length;
    this.readsNs.push(readNs);
    this.lengths.push(length);
    return addedBytes;
  }

  private openBlock(length: number): void {
    if (this.blocks.length > 0) this.usedBytes.push(this.used);
    this.block = length > BLOCK_BYTES ? new Uint8Array(length) : (freeBlocks.pop() ?? new Uint8Array(BLOCK_BYTES));
    this.blocks.push(this.block);
    this.used = 0;
    this.size = this.block.length;
  }

  private usedOf(block: number): number {
    return this.usedBytes[block] ?? this.used;
  }

  /** Passes each event in order. */
  visit(visitEvent: VisitEvent): void {
    let number = 0;
    let block = this.blocks[0] as Uint8Array;
    let used = this.usedOf(0);
    let end = 0;
    for (const length of this.lengths) {
      if (end + length > used) {
        number++;
        block = this.blocks[number] as Uint8Array;
        used = this.usedOf(number);
        end = 0;
      }
      end += length;
      visitEvent(block, end - length, end);
    }
  }

  /** Views of the memory of all events, in order. */
  parts(): readonly Uint8Array[] {
    return this.blocks.map((block, i) => block.subarray(0, this.usedOf(i)));
  }

  /** Returns copies of all events. */
  copies(): Uint8Array[] {
    const bytes = joinBytes(this.parts());
    let end = 0;
    return this.lengths.map((length) => {
      end += length;
      return bytes.subarray(end - length, end);
    });
  }

  /** Returns copies of the last events. @param most their number, if there are as many */
  lastCopies(most: number): Uint8Array[] {
    const copies: Uint8Array[] = [];
    let left = this.count;
    this.visit((bytes, start, end) => {
      if (left-- <= most) copies.push(bytes.slice(start, end));
    });
    return copies;
  }

  /** Gives the memory to the next streams: nothing may read the events any more. */
  release(): void {
    for (const block of this.blocks)
      if (block.length === BLOCK_BYTES && freeBlocks.length < MOST_FREE_BLOCKS) freeBlocks.push(block);
    this.blocks.length = 0;
    this.usedBytes.length = 0;
    this.size = -1;
    this.readsNs.length = 0;
    this.lengths.length = 0;
  }
}
