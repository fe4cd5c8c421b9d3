import * as v from "valibot";
import type { PlanOf } from "./schema.ts";

/** Changes to a run that only one front door needs. Each is off if absent. */
export type BehaviourPlan = PlanOf<typeof behaviourSchema>;

/** Returns the schema of a run's behaviour. */
export function behaviourSchema() {
  const yes = v.exactOptional(v.literal(true));
  return v.strictObject({
    /** Queries the server through Rampart's client if that sends the load too, and not through a general one. */
    queriesThroughBuiltInClient: yes,
    /**
     * Rehearses requests for at most 5 ms before the first measured one, including requests to a language model, and does not
     * change its threads.
     */
    startsEarly: yes,
    /** Does not read the server's counters before the first level and after the last, because no report shows their change over the run. */
    skipsRunCounters: yes,
    /** A failed query of the server's counters ends the run. Absent: the run continues without the times that the server reports. */
    needsCounters: yes,
    /**
     * Measures each level from its first request, and lets a warm-up drain before it. Absent: a level with a fixed duration is
     * measured from the moment when its load is stable.
     */
    measuresFromNothing: yes,
    /** A sequence that is cut short because its load ends counts as completed. Absent: only sequences of their whole length count. */
    countsCutSequences: yes,
    /** A search for a latency limit measures each level once, and does not confirm its result. */
    measuresLevelsOnce: yes,
    /** Limits the requests in flight only where more would exhaust the host, and waits for all responses at the end of a level. */
    usesWholeHost: yes,
    /** Retries for some seconds if a server refuses its first connection. Absent: the run ends before its first request. */
    waitsForServer: yes,
    /**
     * Waits for a server that accepts connections and answers nothing until requests stall. Absent: the run ends earlier if the server
     * does not answer another request either.
     */
    waitsForSilentServer: yes,
    /** A well-formed response succeeds, even from another model or with other outputs. */
    acceptsOtherOutputs: yes,
    /**
     * Sends batches that are larger than the model allows, and warns about shapes without effect. Absent: the run ends before
     * its first request.
     */
    sendsMisfits: yes,
  });
}

/** Behaviour of all compatible modes, equal to that of the original tools. */
export const COMPATIBLE_BEHAVIOUR = {
  skipsRunCounters: true,
  needsCounters: true,
  measuresLevelsOnce: true,
  measuresFromNothing: true,
  countsCutSequences: true,
  usesWholeHost: true,
  waitsForServer: true,
  acceptsOtherOutputs: true,
  sendsMisfits: true,
} as const satisfies BehaviourPlan;
