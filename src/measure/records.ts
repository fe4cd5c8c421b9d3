/** Data that a sender records for each request: one row of columns, which are read and then filled again. */

const CAPACITY = 2048; // rows between two drains

export const RECORD_FAILED = 1;
export const RECORD_DELAYED = 2;
export const RECORD_SEQUENCE_END = 4;
/** Cancelled by this client. Always with {@link RECORD_FAILED}. */
export const RECORD_CANCELLED = 8;
/** Sent again over a new connection. */
export const RECORD_RESENT = 16;

/** Receives the rows `[0, count)`, which are overwritten afterwards. */
type DrainRecords = (records: RecordColumns, count: number) => void;

/** A fixed number of rows, one for each completed request, drained when full. Times are monotonic nanoseconds. */
export class RecordColumns {
  /** Time at which the request was due; equal to `sendStartNs` without a schedule. */
  readonly intendedSendNs = new Float64Array(CAPACITY);
  readonly sendStartNs = new Float64Array(CAPACITY);
  readonly sendEndNs = new Float64Array(CAPACITY);
  readonly firstByteNs = new Float64Array(CAPACITY);
  readonly endNs = new Float64Array(CAPACITY);
  /** Time of the last message, which may be empty; `endNs` or later. */
  readonly overNs = new Float64Array(CAPACITY);
  /** Time spent decoding, in nanoseconds. */
  readonly decodeNs = new Float64Array(CAPACITY);
  readonly responseCount = new Uint32Array(CAPACITY);
  /** {@link RECORD_FAILED}, {@link RECORD_DELAYED}, {@link RECORD_SEQUENCE_END}, {@link RECORD_CANCELLED} and {@link RECORD_RESENT}. */
  readonly flags = new Uint8Array(CAPACITY);
  /** Index of the request's group; 0 in a run without groups. */
  readonly group = new Uint8Array(CAPACITY);
  private readonly drainTo: DrainRecords;
  private count = 0;

  constructor(drain: DrainRecords) {
    this.drainTo = drain;
  }

  /** Index of the row to fill next, before `commit`. */
  get row(): number {
    return this.count;
  }

  commit(): void {
    this.count++;
    if (this.count === CAPACITY) this.drain();
  }

  /** Drains the filled rows. */
  drain(): void {
    const count = this.count;
    if (count === 0) return;
    this.count = 0;
    this.drainTo(this, count);
  }
}
