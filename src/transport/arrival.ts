/** The first read of this turn of the event loop, on the clock of `nowNs`. 0: nothing was read in it. */
let turnNs = 0;
/** Reads since then. */
let readCount = 0;

/** What is larger may have come in pieces, the last of them while other sockets were read. */
const MOST_WHOLE_BYTES = 16 * 1024; // 16 KiB

/**
 * The system names at most 1,024 readable sockets at a time, and event loops ask again within a turn where there are as many. What is named then may
 * have arrived since. Some of the 1,024 are not for reads.
 */
const MOST_READS = 1000;

/** What is read from now on has not arrived before: at a border between windows, and after each turn. */
export function forgetArrivals(): void {
  turnNs = 0;
  readCount = 0;
}

/** Whether something was read in this turn of the event loop, so that more may wait. */
export function hasReads(): boolean {
  return turnNs !== 0;
}

/**
 * Returns when what is read now had arrived, at the latest. All sockets that an event loop finds readable in one turn were so when the turn
 * began, but it reads them one after another, and handling a response takes microseconds: the last of hundreds would seem milliseconds late.
 * So small reads of a turn have the time of its first, as long as the system named their sockets together.
 * @param atNs now
 * @param sentNs when something was last sent on the same connection: what answers it has not arrived before
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
