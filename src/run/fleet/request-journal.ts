import { deserialize, serialize } from "node:v8";
import { messageOf, RunError } from "../../plan/problem.ts";
import { msToNs } from "../../plan/units.ts";
import type { Clock } from "../../runtime/clock.ts";
import { TemporaryFile, temporaryFolder } from "../../runtime/temporary-file.ts";

/** Longest time for handling entries while messages wait. */
const SLICE_NS = msToNs(2);
/** Batches up to this total size wait in memory, the rest in a file. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Handled entries stay in the list up to this number, because removing them one by one is slow. */
const MOST_HANDLED = 16;

type Entry<T> =
  | { readonly kind: "event"; readonly run: () => void }
  | { readonly kind: "held"; readonly batch: T; readonly byteCount: number }
  | { readonly kind: "stored"; readonly position: number; readonly byteCount: number };

/** Callbacks of a journal for its entries. */
export interface JournalOptions<T> {
  readonly clock: Pick<Clock, "nowNs" | "nextTurn">;
  /** Handles a batch, which is plain data. */
  handle(batch: T): void;
  /** Returns the memory that a batch needs. */
  sizeOf(batch: T): number;
  /** Called when an entry cannot be handled or stored. */
  fail(error: unknown): void;
  /** Default: 64 MiB. */
  readonly mostBytes?: number | undefined;
}

/**
 * Batches of requests and events between them, handled in order, in short slices, because the conductor's thread also times windows.
 * When requests arrive faster than they are handled, the journal grows on disk instead of in memory.
 */
export class RequestJournal<T> {
  private readonly options: JournalOptions<T>;
  private readonly mostBytes: number;
  private entries: Entry<T>[] = [];
  private next = 0;
  private heldBytes = 0;
  private store: { readonly file: TemporaryFile; entryCount: number } | undefined;
  private working: PromiseWithResolvers<void> | undefined;
  private isPaused = false;

  constructor(options: JournalOptions<T>) {
    this.options = options;
    this.mostBytes = options.mostBytes ?? MOST_BYTES;
  }

  addBatch(batch: T): void {
    const byteCount = this.options.sizeOf(batch);
    // Batches after a stored one are stored too, so that the file is read from beginning to end.
    if (this.store !== undefined || this.heldBytes + byteCount > this.mostBytes) this.guard(() => this.keep(batch));
    else {
      this.heldBytes += byteCount;
      this.entries.push({ kind: "held", batch, byteCount });
    }
    this.begin();
  }

  /** Runs an event after everything before it; at once when nothing waits. */
  addEvent(run: () => void): void {
    if (this.isIdle) run();
    else this.entries.push({ kind: "event", run });
  }

  /** Whether nothing waits and the journal is not paused. */
  get isIdle(): boolean {
    return !this.isPaused && this.working === undefined;
  }

  /** Stops handling entries until `resume`. */
  pause(): void {
    this.isPaused = true;
  }

  /** Handles at once everything that was added since `pause`. */
  resume(): void {
    this.isPaused = false;
    while (this.hasNext) this.guard(() => this.handleNext());
    this.clear();
  }

  /** Resolves when everything has been handled. */
  async finish(): Promise<void> {
    while (this.working !== undefined) await this.working.promise;
  }

  private begin(): void {
    if (this.working !== undefined || this.isPaused) return;
    this.working = Promise.withResolvers();
    this.options.clock.nextTurn(() => this.work());
  }

  private work(): void {
    const { clock } = this.options;
    const endNs = clock.nowNs() + SLICE_NS;
    while (this.hasNext && clock.nowNs() < endNs) this.guard(() => this.handleNext());
    if (this.hasNext) {
      clock.nextTurn(() => this.work());
      return;
    }
    const { working } = this;
    this.clear();
    this.working = undefined;
    working?.resolve();
  }

  private clear(): void {
    if (this.isPaused) return;
    this.entries = [];
    this.next = 0;
  }

  private get hasNext(): boolean {
    return !this.isPaused && this.next < this.entries.length;
  }

  private handleNext(): void {
    const entry = this.entries[this.next] as Entry<T>;
    this.next++;
    if (this.next >= MOST_HANDLED) {
      this.entries = this.entries.slice(this.next);
      this.next = 0;
    }
    if (entry.kind === "event") entry.run();
    else if (entry.kind === "held") {
      this.heldBytes -= entry.byteCount;
      this.options.handle(entry.batch);
    } else this.options.handle(this.read(entry));
  }

  private keep(batch: T): void {
    const bytes = serialize(batch);
    try {
      this.store ??= { file: new TemporaryFile("requests"), entryCount: 0 };
      const position = this.store.file.append(bytes);
      this.store.entryCount++;
      this.entries.push({ kind: "stored", position, byteCount: bytes.length });
    } catch (error) {
      throw notStored(error);
    }
  }

  private read({ position, byteCount }: { readonly position: number; readonly byteCount: number }): T {
    const { store } = this;
    if (store === undefined) throw new Error("the file of waiting requests is closed");
    const bytes = Buffer.alloc(byteCount);
    store.file.read(position, bytes);
    store.entryCount--;
    if (store.entryCount === 0) {
      store.file.close();
      this.store = undefined;
    }
    return deserialize(bytes) as T;
  }

  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.options.fail(error);
    }
  }
}

function notStored(error: unknown): RunError {
  const message = `requests that wait to be written need a temporary file in ${temporaryFolder()}: ${messageOf(error)}`;
  return new RunError("output", message, "Set TMPDIR to a folder with more room, or send with fewer workers.");
}
