/** Time of the first read in this turn of the event loop, on the clock of `nowNs`. 0: no read yet. */
let turnNs = 0;
/** Number of reads in this turn. */
let readCount = 0;

/** A larger read may have arrived in pieces, the last of them while other sockets were read. */
const MOST_WHOLE_BYTES = 16 * 1024; // 16 KiB

/**
 * The system reports at most 1,024 readable sockets at a time. Event loops then query again within the same turn, and data of the sockets
 * reported later may have arrived since. Some of the 1,024 are not for reads.
 */
const MOST_READS = 1000;

/** Starts a new turn: reads from now on have arrived later. Called at a border between windows, and after each turn. */
export function forgetArrivals(): void {
  turnNs = 0;
  readCount = 0;
}

/** Whether this turn of the event loop has had a read, so that more reads may be pending. */
export function hasReads(): boolean {
  return turnNs !== 0;
}

/**
 * Returns the time by which data that is read now had arrived. All sockets that an event loop finds readable in one turn were readable when
 * the turn began, but it reads them one after another, and handling a response takes microseconds: the last of hundreds would seem
 * milliseconds late. So small reads of a turn get the time of its first read, as long as the system reported their sockets together.
 * @param atNs now
 * @param sentNs time of the last send on the same connection: its response cannot have arrived earlier
 * @param byteCount size of the read
 */
export function arrivalNs(atNs: number, sentNs: number, byteCount: number): number {
  if (turnNs === 0) setImmediate(forgetArrivals);
  if (++readCount > MOST_READS) {
    readCount = 1;
    turnNs = atNs;
  }
  if (turnNs === 0 || sentNs > turnNs || byteCount > MOST_WHOLE_BYTES) turnNs = atNs;
  return turnNs;
}
