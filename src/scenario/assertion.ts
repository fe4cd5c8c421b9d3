import type { GivenTags } from "../inputs/tagged-input.ts";
import type { RequestLimit } from "../measure/good-requests.ts";
import type { KeyWith, MetricKey, NameNeeding, NameOfQuantity } from "../measure/metrics/catalogue.ts";
import type { LimitedRateName, LimitedTimeName } from "../measure/tokens/metrics.ts";
import type { Comparison, Statistic } from "../plan/assertions.ts";
import type { Duration, Percent } from "../plan/units.ts";
import type { LoadKind } from "./loads/load.ts";
import type { ResponseType } from "./targets/target.ts";

/** The metrics that assertions can name. */
export type MetricName = Exclude<MetricKey, KeyWith<{ readonly isOfReports: true }>>;

/** Metrics of loads with a schedule: `scheduledLatency` counts from the intended send, `latency` from the actual one. */
type ScheduledName<S extends LoadKind> = S extends "scheduled" | "traced" ? NameNeeding<"schedule"> : never;
type TokenName<A extends ResponseType> = A extends "stream"
  ? NameNeeding<"tokens" | "streams">
  : A extends "text"
    ? NameNeeding<"tokens">
    : never;

/** The metrics of a load and a type of response: only schedules have an intended send, and only streams a first token. */
export type MetricOf<S extends LoadKind = LoadKind, A extends ResponseType = ResponseType> =
  | Exclude<MetricName, NameNeeding<"schedule" | "tokens" | "streams">>
  | ScheduledName<S>
  | TokenName<A>;

/**
 * The limit of a metric: a duration for times, a percentage for ratios (0 needs no sign), otherwise a number. `never` is an unknown
 * name, which is already an error.
 */
export type LimitOf<N extends MetricName> = [N] extends [never]
  ? Duration | Percent | number
  : N extends NameOfQuantity<"time">
    ? Duration
    : N extends NameOfQuantity<"ratio">
      ? Percent | 0
      : number;

/**
 * Limits of a good request: maximum times (`latency`: of the whole request; `scheduledLatency` and `firstResponse` cannot be combined with
 * limits of tokens), and minimum rates.
 */
export type GoodputLimits = {
  readonly [Name in LimitedTimeName | RequestLimit]?: Duration;
} & {
  readonly [Name in LimitedRateName]?: number;
};

/** A metric, as builders return it. Limits are still durations. */
export interface AssertedMetric<N extends MetricName = MetricName> {
  readonly key: N;
  readonly statistic?: Statistic | undefined;
  readonly name?: string | undefined;
  readonly text?: string | undefined;
  readonly limits?: GoodputLimits | undefined;
}

/**
 * An assertion on metrics with these names. `W` are its references besides the metric, as texts: tags such as `"length=long"`, members of a
 * mix such as `"target: chat"`, extracted values such as `"extracted: tokens"`, and derived metrics; `never`: none.
 */
export interface Assertion<N extends MetricName = MetricName, W extends string = never> {
  /** The compared metric. */
  readonly metric: AssertedMetric<N>;
  /** Comparison with the limit. */
  readonly comparison: Comparison;
  /** A duration for times, a percentage for ratios, otherwise a number in the unit of the metric. */
  readonly limit: Duration | Percent | number;
  /** Judges only requests with these tags, and in the phase of the load that `phase` names. Default: all requests. */
  readonly where?: GivenTags | undefined;
  /** Never set; only carries the references in the type. */
  readonly refersTo?: W;
  /**
   * Ends the run early when the assertion fails over this time. On an assertion from a builder, a function that sets this
   * time.
   */
  readonly abortAfter?: Duration | ((time: Duration) => Assertion<N, W>);
}

/** An assertion that may end the run. */
export interface AbortableAssertion<N extends MetricName = MetricName, W extends string = never>
  extends Assertion<N, W> {
  /**
   * Ends the run early, with exit code 65, when the assertion fails over this time: it is judged repeatedly, on the requests that ended in
   * the last part of the measured time with this length. The run does not end before this much time has been measured.
   * @example
   * p99("latency").below("1 s").abortAfter("10 s")
   */
  readonly abortAfter: (time: Duration) => Assertion<N, W>;
}

/** Required precision of a metric over repeated runs. */
export interface Precision<N extends MetricName = MetricName, W extends string = never> {
  readonly metric: AssertedMetric<N>;
  /** Largest half-width of the 95 % confidence interval of the mean over runs, in percent of the mean. */
  readonly within: Percent;
  /** Judges only requests with these tags, and in the phase of the load that `phase` names. Default: all requests. */
  readonly where?: GivenTags | undefined;
  /** Never set; only carries the references in the type. */
  readonly refersTo?: W;
}

/** An assertion on any metric and tags. */
export type AnyAssertion = Assertion<MetricName, string>;

/** A precision of any metric and tags. */
export type AnyPrecision = Precision<MetricName, string>;
