import type { SequencesPlan } from "./plan.ts";

/** How sequences are made where a user does not say: perf_analyzer's defaults. */
export const DEFAULT_SEQUENCES: SequencesPlan = {
  length: null,
  lengthVariationPct: 20,
  startId: 1,
  idCount: null,
  concurrent: 4,
  isSerial: false,
};
