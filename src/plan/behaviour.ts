import type { Builders, PlanOf } from "./schema.ts";

/** What a run does differently for the sake of one front door. A missing field means that it does not. */
export type BehaviourPlan = PlanOf<typeof behaviourSchema>;

/** Schema of a run's behaviour. */
export function behaviourSchema(v: Builders) {
  const yes = v.exactOptional(v.literal(true));
  return v.strictObject({
    /** Asks the server about itself through Rampart's own client, where that sends the load too, and not through a general one. */
    queriesThroughOwnClient: yes,
    /** Does not run the client's code against an in-process sink before the first measured request of a language model. */
    skipsRehearsal: yes,
    /** Does not read the server's counters before the first level and after the last: no report shows their change over the run. */
    skipsRunCounters: yes,
    /** A failed query of the server's counters ends the run. Without it, the run continues without the server's own times. */
    needsCounters: yes,
    /** A search for a latency limit measures each level once, and does not confirm its result. */
    measuresLevelsOnce: yes,
  });
}
