/** The parts of a plan that describe loads, by their `kind`. Each load mode declares its own beside its entry in `load/`. */
// biome-ignore lint/suspicious/noEmptyInterface: the modes add to it.
export interface LoadPlans {}

/** Which load. */
export type LoadPlan = LoadPlans[keyof LoadPlans];

/** The levels of a load, measured in order. */
export type LevelsPlan =
  /** `start`, `start + step`, … up to `end`; null: until the latency limit is exceeded. */
  | {
      readonly kind: "range";
      readonly start: number;
      readonly end: number | null;
      readonly step: number;
      /** Set when the user gave no end, and `end` comes from the number of threads. */
      readonly isThreadLimited?: true;
    }
  | { readonly kind: "list"; readonly values: readonly number[] };

/** How to search the levels: in order, or by bisection for the highest that meets the latency limit. */
export type SearchPlan = "linear" | "binary";
