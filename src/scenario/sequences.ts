import * as v from "valibot";
import { flagSchema, type OutputOf } from "../plan/schema.ts";
import type { SequencesPlan } from "../plan/sequences.ts";
import { DEFAULT_SEQUENCES } from "../plan/sequences.ts";
import type { Percent } from "../plan/units.ts";
import { countSchema, shareSchema, strictOptions, toPct } from "./fields.ts";

/**
 * Sequences of requests. Used only by sequence models. Reports count those of their whole length, and not those that the end of a load cuts
 * short.
 */
export interface SequenceOptions {
  /** Requests per sequence. Default: the length of its data stream, or 20. */
  readonly length?: number;
  /** Largest deviation of a sequence's length from `length`. Default: `"20 %"`. */
  readonly variation?: Percent | 0;
  /** Correlation ids: the first one, and the one after the last. They repeat from the first. Default: from 1, without an end. */
  readonly ids?: readonly [first: number, end: number];
  /**
   * Number of active sequences with request rates and schedules. With concurrency, each request in flight has a separate sequence.
   * Default: 4.
   */
  readonly concurrent?: number;
  /** Whether a sequence never has more than one request in flight, also on a stream. Default: false. */
  readonly serial?: boolean;
}

/** Returns the schema of a scenario's sequences. */
export function sequenceOptionsSchema() {
  const ids = v.pipe(
    v.tuple([countSchema(), countSchema()], "must be the first id and the id after the last"),
    v.check(([first, end]) => first < end, "must end after its start"),
  );
  return strictOptions({
    length: v.optional(countSchema()),
    variation: v.optional(shareSchema()),
    ids: v.optional(ids),
    concurrent: v.optional(countSchema()),
    serial: v.optional(flagSchema()),
  });
}

/** Converts these options to their form in a plan. */
export function toSequencesPlan({
  length,
  variation,
  ids,
  concurrent,
  serial,
}: OutputOf<typeof sequenceOptionsSchema> = {}): SequencesPlan {
  const [startId, endId] = ids ?? [DEFAULT_SEQUENCES.startId, undefined];
  return {
    length: length ?? DEFAULT_SEQUENCES.length,
    lengthVariationPct: variation === undefined ? DEFAULT_SEQUENCES.lengthVariationPct : toPct(variation),
    startId,
    idCount: endId === undefined ? DEFAULT_SEQUENCES.idCount : endId - startId,
    concurrent: concurrent ?? DEFAULT_SEQUENCES.concurrent,
    isSerial: serial ?? DEFAULT_SEQUENCES.isSerial,
  };
}
