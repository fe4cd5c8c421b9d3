import * as v from "valibot";
import type { PlanOf } from "./schema.ts";

/** What a run does differently for the sake of one front door. A missing field means that it does not. */
export type BehaviourPlan = PlanOf<typeof behaviourSchema>;

/** Schema of a run's behaviour. */
export function behaviourSchema() {
  const yes = v.exactOptional(v.literal(true));
  return v.strictObject({
    /** Asks the server about itself through Rampart's own client, where that sends the load too, and not through a general one. */
    queriesThroughBuiltInClient: yes,
    /** Rehearses requests for 5 ms at most before the first measured one, also those to a language model, and leaves its threads as they are. */
    startsEarly: yes,
    /** Does not read the server's counters before the first level and after the last: no report shows their change over the run. */
    skipsRunCounters: yes,
    /** A failed query of the server's counters ends the run. Without it, the run continues without the server's own times. */
    needsCounters: yes,
    /**
     * Measures each level from its first request, and lets a warm-up drain before it. Absent: a level that time ends is measured from the
     * moment when its load is steady.
     */
    measuresFromNothing: yes,
    /** A search for a latency limit measures each level once, and does not confirm its result. */
    measuresLevelsOnce: yes,
    /** Limits the requests in flight only where more would exhaust the host, and waits for all responses at the end of a level. */
    usesWholeHost: yes,
    /** Sends to a server that refuses its first connection, for some seconds. Absent: the run ends before its first request. */
    waitsForServer: yes,
    /** A response that is valid in itself succeeds, whatever model it is from and whatever outputs it has. */
    acceptsOtherOutputs: yes,
    /** Sends batches that are larger than the model allows, and warns of shapes without effect. Absent: the run ends before its first request. */
    sendsMisfits: yes,
  });
}

/** What all compatible modes do like their originals. */
export const COMPATIBLE_BEHAVIOUR = {
  skipsRunCounters: true,
  needsCounters: true,
  measuresLevelsOnce: true,
  measuresFromNothing: true,
  usesWholeHost: true,
  waitsForServer: true,
  acceptsOtherOutputs: true,
  sendsMisfits: true,
} as const satisfies BehaviourPlan;
