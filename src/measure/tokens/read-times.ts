/** The least time between responses of one read. */
const NS_PER_BYTE = 0.5;

/** One read of an answer. */
interface TimedRead {
  /** Monotonic nanoseconds. */
  readonly readNs: number;
  readonly body: Uint8Array;
}

/**
 * When the responses of a request came, in whole nanoseconds after the send, each later than the one before. Responses of one read have one
 * time; here they follow each other as their bytes do, at two bytes a nanosecond, faster than any network. GenAI-Perf divides the time
 * between the first and the last response by their tokens, rounds to nanoseconds, and divides by that: a token has at least one byte, so it
 * never divides by 0.
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
