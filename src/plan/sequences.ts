/** How requests make up sequences, for models that take sequences. */
export interface SequencesPlan {
  /** Requests per sequence; null: as many as its data stream has, or 20. */
  readonly length: number | null;
  /** A sequence's length differs from `length` by so much at most, in percent. */
  readonly lengthVariationPct: number;
  /** The first correlation id. */
  readonly startId: number;
  /** How many ids there are, from the first on, before they come again; null: no end. */
  readonly idCount: number | null;
  /** Sequences under way at once where requests are scheduled; otherwise each request outstanding belongs to its own. */
  readonly concurrent: number;
  /** A sequence never has more than one request outstanding. */
  readonly isSerial: boolean;
}

/** How sequences are made where a user does not say: perf_analyzer's defaults. */
export const DEFAULT_SEQUENCES: SequencesPlan = {
  length: null,
  lengthVariationPct: 20,
  startId: 1,
  idCount: null,
  concurrent: 4,
  isSerial: false,
};
