/** What a run does differently for the sake of one front door. A field that is left out: it does not. */
export interface BehaviourPlan {
  /** Asks the server about itself through Rampart's own client, where that sends the load too, and not through a general one. */
  readonly queriesThroughOwnClient?: true;
  /** Does not run the client's code against an in-process sink before the first measured request of a language model. */
  readonly skipsRehearsal?: true;
  /** Does not read the server's counters before the first level and after the last: no report shows their change over the run. */
  readonly skipsRunCounters?: true;
  /** A search for a latency limit measures each level once, and does not confirm its result. */
  readonly measuresLevelsOnce?: true;
}
