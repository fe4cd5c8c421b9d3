/** Records of finished requests as columns of typed arrays: filled by the run, emptied in batches. */

const CAPACITY = 2048; // rows between two drains

export const RECORD_FAILED = 1;
export const RECORD_DELAYED = 2;
export const RECORD_SEQUENCE_END = 4;
/** Given up by this client; together with {@link RECORD_FAILED}. */
export const RECORD_GIVEN_UP = 8;

/** Takes the rows `[0, count)`; they are overwritten afterwards. */
export type DrainRecords = (records: RecordColumns, count: number) => void;

/** A fixed set of rows. Times are monotonic nanoseconds. */
export class RecordColumns {
  /** When the request was due; equal to `sendStartNs` where nothing was scheduled. */
  readonly intendedSendNs = new Float64Array(CAPACITY);
  readonly sendStartNs = new Float64Array(CAPACITY);
  readonly sendEndNs = new Float64Array(CAPACITY);
  readonly firstByteNs = new Float64Array(CAPACITY);
  readonly endNs = new Float64Array(CAPACITY);
  /** When nothing more came for the request; later than `endNs` where an empty message says so. */
  readonly overNs = new Float64Array(CAPACITY);
  /** Time spent decoding. */
  readonly decodeNs = new Float64Array(CAPACITY);
  /** Responses with content. */
  readonly responseCount = new Uint32Array(CAPACITY);
  /** {@link RECORD_FAILED}, {@link RECORD_DELAYED}, {@link RECORD_SEQUENCE_END} and {@link RECORD_GIVEN_UP}. */
  readonly flags = new Uint8Array(CAPACITY);
  private readonly drainTo: DrainRecords;
  private count = 0;

  constructor(drain: DrainRecords) {
    this.drainTo = drain;
  }

  /** The row to fill next; fill it, then call `commit`. */
  get row(): number {
    return this.count;
  }

  commit(): void {
    this.count++;
    if (this.count === CAPACITY) this.drain();
  }

  /** Hands over the rows filled so far. */
  drain(): void {
    const count = this.count;
    if (count === 0) return;
    this.count = 0;
    this.drainTo(this, count);
  }
}
