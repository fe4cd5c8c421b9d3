import type { RateRampPlan, SchedulePartPlan } from "./load-options.ts";

export type LoadPlan =
  | ConcurrencyLoadPlan
  | ConcurrencyRampPlan
  | RequestRateLoadPlan
  | IntervalsLoadPlan
  | FixedScheduleLoadPlan
  | PeriodicConcurrencyLoadPlan
  | SessionConcurrencyLoadPlan;

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

/** A fixed number of outstanding requests. */
export interface ConcurrencyLoadPlan {
  readonly kind: "concurrency";
  readonly levels: LevelsPlan;
  readonly search: SearchPlan;
  /** Time in which each level rises linearly from 1, in milliseconds. Absent: none. */
  readonly rampMs?: number;
}

/** Concurrency that changes linearly over time, in one measurement. */
export interface ConcurrencyRampPlan {
  readonly kind: "concurrency-ramp";
  readonly start: number;
  readonly end: number;
  readonly overMs: number;
}

/** Requests sent at a rate, independent of the server's responses. */
export interface RequestRateLoadPlan {
  readonly kind: "request-rate";
  /** In requests per second. */
  readonly levels: LevelsPlan;
  readonly search: SearchPlan;
  readonly distribution: "constant" | "poisson" | "gamma";
  /** Seed of random gaps. */
  readonly seed: number;
  /** Shape of `gamma`, above 0: 1 is Poisson, higher is smoother, lower is burstier. Default: 1. */
  readonly smoothness?: number;
  /** Maximum number of outstanding requests. Requests above it wait in order. Absent: no limit. */
  readonly maxOutstanding?: number;
  /** Absent: the rate is constant. */
  readonly ramp?: RateRampPlan;
}

/** Requests sent at intervals from a file, repeatedly: one interval per line, in microseconds. */
export interface IntervalsLoadPlan {
  readonly kind: "intervals";
  readonly file: string;
}

/** Every step of the data once, at its timestamp. */
export interface FixedScheduleLoadPlan {
  readonly kind: "fixed-schedule";
  /** Absent: all of it from timestamp 0, at its own speed. */
  readonly part?: SchedulePartPlan;
}

/** Requests added in groups. Each group starts when every request of the previous one has received some of its responses. */
export interface PeriodicConcurrencyLoadPlan {
  readonly kind: "periodic-concurrency";
  /** Size of the first group. */
  readonly start: number;
  /** Total number of requests. */
  readonly end: number;
  /** Size of each later group. */
  readonly step: number;
  /** Number of responses that each request of a group must receive before the next group starts. */
  readonly periodResponses: number;
}

/** Every session of the data once, its turns in order. */
export interface SessionConcurrencyLoadPlan {
  readonly kind: "session-concurrency";
  /** Number of concurrent sessions. */
  readonly concurrency: number;
}
