import type { Direction, MetricPlan } from "../../plan/assertions.ts";
import type { Measurement } from "../measurement.ts";
import type { ReadLevel } from "./derived.ts";
import type { Ends, Sample } from "./sample.ts";

/** Types of the catalogue's entries. */

/** Quantity of a metric: nanoseconds, a rate per second, a count, a ratio from 0 to 1, or a plain number. */
export type Quantity = "time" | "rate" | "count" | "ratio" | "number";

/** The measured data of a level, or of a part of its requests. */
export interface MeasuredPart {
  readonly window: Measurement;
}

/** Requirement on a run for a metric to have a value. */
export type Need =
  /** Requests are due at given times. */
  | "schedule"
  /** A request may have several responses. */
  | "responses"
  /** The tokens of responses are measured. */
  | "tokens"
  /** The tokens arrive in streams. */
  | "streams"
  /** The server reports its own times. */
  | "statistics"
  /** The server's metrics page is read. */
  | "gauges";

/** A metric with a value for each request or reading: it has statistics. */
interface Distribution {
  /** Available statistics. */
  readonly statistics: readonly ("mean" | "min" | "max" | "percentiles")[];
  /** Returns the values; undefined if there are none. */
  sample(part: MeasuredPart, metric: MetricPlan): Sample | undefined;
}

/** Values that a metric depends on besides its own measurement. */
export interface Around {
  /** Inferences per request. */
  readonly batchSize: number;
  /** The other metrics of the same part. */
  readonly level: ReadLevel;
}

/** A metric with one value for a measurement. */
interface Single {
  readonly statistics?: undefined;
  /** Returns the value in its base unit; undefined if there is none. */
  value(part: MeasuredPart, metric: MetricPlan, around: Around): number | undefined;
  /** Returns the ends of the confidence interval of a value. Absent: the value counts as exact. */
  ends?(part: MeasuredPart, metric: MetricPlan, asked: Asked): Ends;
}

/** All statistics of a metric with a value for each request. */
export const ALL_STATISTICS = ["mean", "min", "max", "percentiles"] as const;

/** A number of requests, and the total. */
export interface Counted {
  readonly count: number;
  readonly total: number;
}

type Counts = (part: MeasuredPart, metric: MetricPlan) => Counted;

/** Returns the fields of a ratio of requests. @param counts returns the number of requests, and the total */
export function ratioOf(counts: Counts) {
  const value = (part: MeasuredPart, metric: MetricPlan): number | undefined => {
    const { count, total } = counts(part, metric);
    return total === 0 ? undefined : count / total;
  };
  return { quantity: "ratio", counts, value } as const;
}

/** Fields of entries that the types of scenarios use. */
type Fact = "quantity" | "statistics" | "needs" | "isOfReports" | "definedIn" | "needsLimits";

/**
 * Returns a table unchanged, with a type that contains only its facts, so that the code that reads measurements does not become
 * part of the public types.
 */
export function factsOf<T extends Readonly<Record<string, Metric>>>(
  table: T,
): { readonly [K in keyof T]: { readonly [F in keyof T[K] & Fact]: T[K][F] } } {
  return table;
}

/** The value whose interval is requested. */
export interface Asked {
  readonly value: number;
  readonly batchSize: number;
  /** 0 to 1 */
  readonly confidence: number;
}

/** An entry of the catalogue. Its key is the metric's name everywhere; JSON adds the unit ({@link jsonNameOf}). */
export type Metric = (Distribution | Single) & {
  /** Name in reports. */
  readonly label: string;
  /** Name in options, if shorter than the key: `ttft`. */
  readonly option?: string;
  readonly quantity: Quantity;
  /** Unit in reports: `tokens/s`. Default: the unit of the quantity. */
  readonly unit?: string;
  /** Absent: neither direction is better. */
  readonly better?: Direction;
  /** Absent: every run has it. */
  readonly needs?: Need;
  /** Set for a ratio of requests: see {@link ratioOf}. */
  readonly counts?: Counts;
  /** Returns the reason why a part has no value, if the reason is not `needs`. */
  explain?(part: MeasuredPart, metric: MetricPlan, level: ReadLevel): string | undefined;
  /** Whether percentiles lack the requests that a closed loop does not send while nothing completes. */
  readonly isBlindToGaps?: true;
  /** The scenario field that defines metrics of this kind, each with a name; there can be several. Absent: there is a single metric. */
  readonly definedIn?: "extract" | "derive";
  /** Whether the metric requires the limits of a good request, which an assertion contains. */
  readonly needsLimits?: true;
  /** Whether only reports have the metric, because it does not belong to a single level. */
  readonly isOfReports?: true;
  /** Whether it is the result of a search, and not of a level. */
  readonly isOfSearch?: true;
  /** Key of the metric whose time includes this one. */
  readonly partOf?: string;
  /** See the field of the same name in the table of metrics of single requests. */
  readonly showsCuts?: true;
  readonly differsByReasoning?: true;
};

/** Units of numbers in names of JSON fields. */
const UNIT_NAMES: Readonly<Record<string, string>> = { W: "Watts", J: "Joules", MB: "Megabytes" };
const QUANTITY_ENDS: Readonly<Record<Quantity, string>> = {
  time: "Us",
  rate: "PerSec",
  count: "",
  ratio: "Ratio",
  number: "",
};

/** Returns a metric's name in records and in OpenTelemetry: `time_to_first_token`. */
export function snakeNameOf(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Returns a metric's name in JSON: its key and its unit, unless the key ends with it. `latencyUs`, `throughputPerSec`,
 * `gpuPowerWatts`, `outputTokens`. In JSON, times are in microseconds.
 */
export function jsonNameOf(key: string, { quantity, unit = "" }: Pick<Metric, "quantity" | "unit">): string {
  const end = quantity === "number" ? (UNIT_NAMES[unit] ?? unit) : QUANTITY_ENDS[quantity];
  return key.endsWith(end) || (quantity === "rate" && key.includes(end)) ? key : `${key}${end}`;
}
