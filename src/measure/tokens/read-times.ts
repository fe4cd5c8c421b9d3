/** Minimum time between responses of one read, per byte. */
const NS_PER_BYTE = 0.5;

/** One read of an answer. */
interface TimedRead {
  /** Monotonic nanoseconds. */
  readonly readNs: number;
  readonly body: Uint8Array;
}

/**
 * Computes when the responses of a request arrived, in whole nanoseconds after the send, each later than the previous one. Responses of one
 * read share one time, so they are spread at two bytes per nanosecond, which is faster than any network. GenAI-Perf divides the time
 * between the first and the last response by the number of tokens, rounds to nanoseconds, and divides by the result. A token has at least
 * one byte, so GenAI-Perf never divides by 0.
 */
export function separateReads(sendNs: number, reads: readonly TimedRead[]): number[] {
  const startNs = Math.round(sendNs);
  let lastNs = 0;
  let bytesBefore = 0;
  return reads.map(({ readNs, body }) => {
    const offsetNs = Math.round(readNs) - startNs;
    if (offsetNs > lastNs) lastNs = offsetNs;
    else lastNs += Math.max(1, Math.ceil((bytesBefore + body.length) * NS_PER_BYTE));
    bytesBefore = body.length;
    return lastNs;
  });
}
