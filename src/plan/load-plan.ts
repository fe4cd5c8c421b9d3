import type { RateRampPlan, SchedulePartPlan } from "./load-options.ts";

/** Which load. */
export type LoadPlan =
  | ConcurrencyLoadPlan
  | ConcurrencyRampPlan
  | RequestRateLoadPlan
  | IntervalsLoadPlan
  | FixedScheduleLoadPlan
  | PeriodicConcurrencyLoadPlan
  | SessionConcurrencyLoadPlan;

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

/** A fixed number of requests outstanding. */
export interface ConcurrencyLoadPlan {
  readonly kind: "concurrency";
  readonly levels: LevelsPlan;
  readonly search: SearchPlan;
  /** At each level it rises from 1 evenly over so long, and is held then. Absent: it is there at once. */
  readonly rampMs?: number;
}

/** Concurrency that changes evenly over time, as one measurement. */
export interface ConcurrencyRampPlan {
  readonly kind: "concurrency-ramp";
  readonly start: number;
  readonly end: number;
  readonly overMs: number;
}

/** Requests sent at a rate, whatever the server does. */
export interface RequestRateLoadPlan {
  readonly kind: "request-rate";
  /** In requests per second. */
  readonly levels: LevelsPlan;
  readonly search: SearchPlan;
  readonly distribution: "constant" | "poisson" | "gamma";
  /** Seed of the gaps that are drawn. */
  readonly seed: number;
  /** Shape of `gamma`, above 0: 1 is Poisson, more is smoother, less is burstier. Absent: 1. */
  readonly smoothness?: number;
  /** Most requests outstanding; those that are due meanwhile wait, and go in their order. Absent: no limit. */
  readonly maxOutstanding?: number;
  /** Absent: the rate is the level's from the first request on. */
  readonly ramp?: RateRampPlan;
}

/** Requests sent at gaps read from a file: one gap per line in microseconds, over and over. */
export interface IntervalsLoadPlan {
  readonly kind: "intervals";
  readonly file: string;
}

/** Every step of the data once, at the time that stands beside it in the file. */
export interface FixedScheduleLoadPlan {
  readonly kind: "fixed-schedule";
  /** Absent: all of it, from its time 0 on, at its own pace. */
  readonly part?: SchedulePartPlan;
}

/** Requests that join in groups, each when every request of the one before has brought some of its responses. */
export interface PeriodicConcurrencyLoadPlan {
  readonly kind: "periodic-concurrency";
  /** Requests of the first group. */
  readonly start: number;
  /** Requests in all. */
  readonly end: number;
  /** Requests of each further group. */
  readonly step: number;
  /** Responses that each request of a group must have brought before the next group is sent. */
  readonly periodResponses: number;
}

/** Conversations: every session of the data once, its turns one after the other. */
export interface SessionConcurrencyLoadPlan {
  readonly kind: "session-concurrency";
  /** Sessions under way at once. */
  readonly concurrency: number;
}
