import type { RequestTokens } from "../../measure/tokens/request-tokens.ts";
import type { Tags } from "../../plan/groups/tags.ts";
import { TemporaryFile } from "../../runtime/temporary-file.ts";
import type { RecordMetrics } from "./record-line.ts";

/** The line of a request, which may wait for the request's tokens. Plain data. */
export interface Line {
  /** Index of the request. Absent: the line waits for nothing. */
  readonly index?: number;
  readonly metadata: string;
  metrics: RecordMetrics;
  readonly tags?: Tags | undefined;
  /** Reason why the request failed; absent if it succeeded. */
  readonly error?: object;
  /** Reason why its response counts as failed for tokens. */
  responseError?: string;
}

/** Operations on lines. */
export interface LineUse {
  addTokens(line: Line, tokens: RequestTokens): void;
  write(line: Line): void;
}

/** Maximum size of the lines in memory, in bytes. Later lines wait in a file. */
const MOST_HELD_BYTES = 16 * 1024 * 1024;
/** Number of lines in a block of the file. */
const BLOCK_LINES = 1024;
/** Memory of a line's objects, and of a number in them. */
const LINE_BYTES = 1000;
const NUMBER_BYTES = 16;
/** Written lines are removed from the list at this number, because removing each separately is slow. */
const FORGOTTEN_LINES = 4096;
const WRITTEN: HeldLine = { line: { metadata: "", metrics: {} }, bytes: 0 };

/** A line in memory, or the place of a line that has been written. */
interface HeldLine {
  readonly line: Line;
  readonly bytes: number;
}

/** Lines outside of memory: their position in the file; the lines themselves if they could not be written. */
type Block = { readonly position: number; readonly byteCount: number } | { readonly lines: readonly Line[] };

/**
 * Lines in the order in which their requests ended. Each is written once all earlier lines are written and its tokens are known.
 * Tokens are measured in another thread, which may fall behind: then many lines wait in a temporary file, so that a long run needs
 * no more memory.
 */
export class WaitingLines {
  private readonly use: LineUse;
  private readonly mostHeldBytes: number;
  /** Lines before `next` have been written. */
  private held: HeldLine[] = [];
  private next = 0;
  private heldBytes = 0;
  /** Waiting lines of `held`, by the index of their request. */
  private readonly waiting = new Map<number, Line>();
  /** Lines after `held`, in order: first those in blocks, then those that are in no block yet. */
  private blocks: Block[] = [];
  private behind: Line[] = [];
  /** Tokens of lines after `held`. */
  private readonly early = new Map<number, RequestTokens>();
  private file: TemporaryFile | undefined;
  /** Whether no more tokens will arrive. */
  private isSettled = false;

  constructor(use: LineUse, mostHeldBytes = MOST_HELD_BYTES) {
    this.use = use;
    this.mostHeldBytes = mostHeldBytes;
  }

  add(line: Line): void {
    const hasBehind = this.blocks.length > 0 || this.behind.length > 0;
    if (!hasBehind && this.heldBytes + sizeOf(line) <= this.mostHeldBytes) {
      this.hold(line);
      this.advance();
      return;
    }
    this.behind.push(line);
    if (this.behind.length >= BLOCK_LINES) this.storeBlock();
    // A large line may be the first one.
    if (this.next === this.held.length) this.advance();
  }

  addTokens(tokens: RequestTokens): void {
    const line = this.waiting.get(tokens.index);
    if (line === undefined) {
      if (this.blocks.length > 0 || this.behind.length > 0) this.early.set(tokens.index, tokens);
      return;
    }
    this.complete(line, tokens);
    this.advance();
  }

  /** Writes the lines whose tokens were never measured, because the run ended early. */
  settle(): void {
    this.isSettled = true;
    this.waiting.clear();
    this.advance();
    this.early.clear();
    this.isSettled = false;
  }

  private hold(line: Line): void {
    const bytes = sizeOf(line);
    this.held.push({ line, bytes });
    this.heldBytes += bytes;
    if (line.index === undefined) return;
    const tokens = this.early.get(line.index);
    this.early.delete(line.index);
    this.waiting.set(line.index, line);
    if (tokens !== undefined) this.complete(line, tokens);
    else if (this.isSettled) this.waiting.delete(line.index);
  }

  private complete(line: Line, tokens: RequestTokens): void {
    this.waiting.delete(tokens.index);
    this.use.addTokens(line, tokens);
  }

  /** Writes the lines up to the first one that waits. */
  private advance(): void {
    do {
      for (
        let one = this.held[this.next];
        one !== undefined && this.isComplete(one.line);
        one = this.held[++this.next]
      ) {
        this.heldBytes -= one.bytes;
        this.use.write(one.line);
        this.held[this.next] = WRITTEN;
      }
      if (this.next < this.held.length) break;
    } while (this.holdMore());
    if (this.next < FORGOTTEN_LINES && this.next < this.held.length) return;
    this.held.splice(0, this.next);
    this.next = 0;
  }

  private isComplete({ index }: Line): boolean {
    return index === undefined || !this.waiting.has(index);
  }

  /** Loads later lines once all held ones are written. Returns whether there were any. */
  private holdMore(): boolean {
    const block = this.blocks.shift();
    const lines = block === undefined ? this.behind : this.read(block);
    if (block === undefined) this.behind = [];
    this.held = [];
    this.next = 0;
    this.heldBytes = 0;
    for (const line of lines) this.hold(line);
    if (lines.length === 0) this.early.clear();
    return lines.length > 0;
  }

  private storeBlock(): void {
    const lines = this.behind;
    this.behind = [];
    try {
      this.file ??= new TemporaryFile("records");
      const bytes = new TextEncoder().encode(JSON.stringify(lines));
      this.blocks.push({ position: this.file.append(bytes), byteCount: bytes.length });
    } catch {
      // The disk may be full, which the file of records reports itself.
      this.blocks.push({ lines });
    }
  }

  private read(block: Block): readonly Line[] {
    if ("lines" in block) return block.lines;
    const bytes = new Uint8Array(block.byteCount);
    this.file?.read(block.position, bytes);
    if (!this.blocks.some((other) => "position" in other)) {
      this.file?.close();
      this.file = undefined;
    }
    return JSON.parse(new TextDecoder().decode(bytes)) as Line[];
  }
}

function sizeOf({ metadata, metrics }: Line): number {
  const lists = Object.values(metrics).map(({ value }) => (Array.isArray(value) ? value.length : 1));
  return LINE_BYTES + metadata.length + NUMBER_BYTES * lists.reduce((sum, count) => sum + count, 0);
}
