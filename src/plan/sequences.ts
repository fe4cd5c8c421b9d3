/** How to group requests into sequences, for models that take sequences. */
export interface SequencesPlan {
  /** Requests per sequence; null: the length of its data stream, or 20. */
  readonly length: number | null;
  /** Maximum deviation of a sequence's length from `length`, in percent. */
  readonly lengthVariationPct: number;
  /** The first correlation id. */
  readonly startId: number;
  /** Number of ids before they repeat; null: unlimited. */
  readonly idCount: number | null;
  /** Concurrent sequences of a scheduled load; other loads have one per outstanding request. */
  readonly concurrent: number;
  /** Whether a sequence has at most one outstanding request. */
  readonly isSerial: boolean;
}

/** perf_analyzer's defaults. */
export const DEFAULT_SEQUENCES: SequencesPlan = {
  length: null,
  lengthVariationPct: 20,
  startId: 1,
  idCount: null,
  concurrent: 4,
  isSerial: false,
};
