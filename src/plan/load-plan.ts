/** The parts of a plan that describe loads, by their `kind`. Each load mode declares its own beside its entry in `load/`. */
// biome-ignore lint/suspicious/noEmptyInterface: the modes add to it.
export interface LoadPlans {}

/** Which load. */
export type LoadPlan = LoadPlans[keyof LoadPlans];

/** The levels of a load, measured one after the other. */
export type LevelsPlan =
  /** `start`, `start + step`, … up to `end`; without an end until the latency limit is met. */
  | {
      readonly kind: "range";
      readonly start: number;
      readonly end: number | null;
      readonly step: number;
      /** No end was asked for; `end` is where the number of threads ends it. Default: false. */
      readonly isThreadLimited?: true;
    }
  | { readonly kind: "list"; readonly values: readonly number[] };

/** How levels are visited: one after the other, or by bisection for the highest that meets the latency limit. */
export type SearchPlan = "linear" | "binary";
