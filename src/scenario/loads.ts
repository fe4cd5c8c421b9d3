import type {
  Extent,
  HoldOptions,
  PeriodicOptions,
  RampOptions,
  RateOptions,
  RateRampOptions,
} from "./definition/load-options.ts";
import type { ScheduleOptions, TraceOptions } from "./schedules.ts";

/** The builders of loads. `definition/load-table.ts` has an entry for each kind of load that they return. */

/** `closed`: keeps a number of requests in flight. `scheduled`: sends requests at due times, independent of responses. */
export type LoadKind = "closed" | "scheduled";

/** A load. Its pacing determines which latencies assertions can refer to. */
export interface Load<S extends LoadKind = LoadKind> {
  /** Selects the entry in the table of builders. */
  readonly kind:
    | "ramp"
    | "hold"
    | "steps"
    | "rate"
    | "rate-ramp"
    | "intervals"
    | "fixed-schedule"
    | "trace"
    | "periodic"
    | "sessions"
    | "warmup"
    | "phase"
    | "soak"
    | "spike"
    | "single-stream"
    | "multi-stream"
    | "server"
    | "offline"
    | "find-max";
  /** How requests are sent. */
  readonly pacing: S;
  /** The numbers of the load: requests in flight, or requests per second. */
  readonly values: readonly number[];
  /** The options of the builder, not yet checked. */
  readonly options: object;
}

/** Returns the pacing of a load in another one. Untyped callers may pass anything, which the schema then rejects. */
export function pacingOf<S extends LoadKind>(load: { readonly pacing: S } | undefined): S {
  return load?.pacing as S;
}

/**
 * Concurrency from `start` to `end`: level by level, or evenly over a time (`over`).
 * @example
 * ramp(1, 50, { step: 7 })
 */
export function ramp(start: number, end: number, options: RampOptions = {}): Load<"closed"> {
  return { kind: "ramp", pacing: "closed", values: [start, end], options };
}

/**
 * A constant concurrency.
 * @example
 * hold(16, { for: "30 s" })
 */
export function hold(concurrency: number, options: HoldOptions = {}): Load<"closed"> {
  return { kind: "hold", pacing: "closed", values: [concurrency], options };
}

/**
 * Each of these concurrencies in turn.
 * @example
 * steps([1, 2, 4, 8], { requests: 1000 })
 */
export function steps(levels: readonly number[], options: Extent = {}): Load<"closed"> {
  return { kind: "steps", pacing: "closed", values: levels, options };
}

/**
 * Requests per second: one rate or a list of rates, whatever the server does.
 * @example
 * rate(100, { distribution: "poisson", for: "30 s" })
 */
export function rate(perSec: number | readonly number[], options: RateOptions = {}): Load<"scheduled"> {
  return { kind: "rate", pacing: "scheduled", values: typeof perSec === "number" ? [perSec] : perSec, options };
}

/**
 * Requests per second that change evenly from one rate to another.
 * @example
 * rateRamp(10, 500, { over: "2 min" })
 */
export function rateRamp(startPerSec: number, endPerSec: number, options: RateRampOptions): Load<"scheduled"> {
  return { kind: "rate-ramp", pacing: "scheduled", values: [startPerSec, endPerSec], options };
}

/**
 * Requests at the gaps of a file: one whole number of microseconds per line, repeated. A relative path starts at the scenario's folder.
 * @example
 * intervals("gaps.txt", { for: "30 s" })
 */
export function intervals(file: string, options: Extent = {}): Load<"scheduled"> {
  return { kind: "intervals", pacing: "scheduled", values: [], options: { ...options, file } };
}

/**
 * Each entry of the `json(…)` inputs once, at its field `timestamp` (milliseconds).
 * @example
 * fixedSchedule({ speed: 2 })
 */
export function fixedSchedule(options: ScheduleOptions = {}): Load<"scheduled"> {
  return { kind: "fixed-schedule", pacing: "scheduled", values: [], options };
}

/**
 * Replays a recorded trace for a language model, which is both the schedule and the inputs: each request at its time with its lengths. A
 * JSON Lines file in Mooncake's format (`{"timestamp": 250, "input_length": 512, "output_length": 64, "hash_ids": [0]}`, times in
 * milliseconds; requests with the same id in `hash_ids` begin with the same text), or a CSV file of Azure's LLM traces or of BurstGPT. A
 * relative path starts at the scenario's folder.
 * @example
 * trace("mooncake.jsonl")
 */
export function trace(file: string, options: TraceOptions = {}): Load<"scheduled"> {
  return { kind: "trace", pacing: "scheduled", values: [], options: { ...options, file } };
}

/**
 * `start` requests, then groups of more requests up to `end`. A group is sent when all requests of the group before have some responses.
 * For decoupled models over a stream.
 * @example
 * periodic(10, 50, { step: 10, responses: 5 })
 */
export function periodic(start: number, end: number, options: PeriodicOptions = {}): Load<"closed"> {
  return { kind: "periodic", pacing: "closed", values: [start, end], options };
}

/**
 * Each conversation of the payloads once, `concurrency` of them at a time. A turn is sent with the turns before it and their answers, after
 * the last answer and the pause that the data gives. A turn that fails ends its conversation.
 * @example
 * sessions(8)
 */
export function sessions(concurrency: number): Load<"closed"> {
  return { kind: "sessions", pacing: "closed", values: [concurrency], options: {} };
}
