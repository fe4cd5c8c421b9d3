import * as v from "valibot";
import type { LoadPlan } from "../../plan/load-plan.ts";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import type { Duration } from "../../plan/units.ts";
import { countSchema, spanSchema, toMs } from "../fields.ts";

/**
 * The scenarios of MLPerf Inference, with the defaults of its `mlperf.conf`
 * (https://github.com/mlcommons/inference/blob/master/loadgen/mlperf.conf).
 */

/** How long an MLPerf scenario lasts: until both the time and the number of queries are reached. */
export interface MlperfExtent {
  /** Shortest time. Default: `"10 min"`, as submissions need. */
  readonly for?: Duration;
  /** Lowest number of queries, which are requests or, for `multiStream`, groups of them. Default: what early stopping needs. */
  readonly queries?: number;
}

/** Options of `singleStream`. */
export interface SingleStreamOptions extends MlperfExtent {
  /** The percentile of latency that is the result, above 0 and below 100. Default: 90. */
  readonly percentile?: number;
}

/** Options of `multiStream`. */
export interface MultiStreamOptions extends MlperfExtent {
  /** Requests of a query, sent together. Default: 8. */
  readonly samplesPerQuery?: number;
  /** The percentile of the latency of queries that is the result, above 0 and below 100. Default: 99. */
  readonly percentile?: number;
}

/** Options of `server`: a limit of latency, or limits of streamed tokens. */
export interface ServerOptions extends MlperfExtent {
  /** The limit of latency, from the time when a request was due. Either this, or the two limits of tokens. */
  readonly latency?: Duration;
  /**
   * The limit of the time from when a request was due to its first token, for targets that stream (LoadGen's TTFT). With
   * `timePerOutputToken`.
   */
  readonly timeToFirstToken?: Duration;
  /**
   * The limit of the time from the first to the last token over the number of tokens after the first (LoadGen's TPOT). With
   * `timeToFirstToken`.
   */
  readonly timePerOutputToken?: Duration;
  /** The percentile that must be within each limit, above 0 and below 100. Default: 99. */
  readonly percentile?: number;
  /** Seed of the gaps between requests. Default: 0. */
  readonly seed?: number;
}

/** Options of `server` with the limits that go together. */
export type LimitedServerOptions = ServerOptions &
  (
    | { readonly latency: Duration; readonly timeToFirstToken?: never; readonly timePerOutputToken?: never }
    | { readonly latency?: never; readonly timeToFirstToken: Duration; readonly timePerOutputToken: Duration }
  );

/** Options of `offline`. */
export interface OfflineOptions {
  /** Shortest time. Default: `"10 min"`, as submissions need. */
  readonly for?: Duration;
  /** Lowest number of requests. Default: 24,576. */
  readonly samples?: number;
  /** Requests in flight: as many as the server needs to be busy all the time. Default: 64. */
  readonly maxOutstanding?: number;
}

const DEFAULT_DURATION: Duration = "10 min";
const DEFAULT_SAMPLES = 24_576;
const DEFAULT_MAX_OUTSTANDING = 64;
const DEFAULT_SAMPLES_PER_QUERY = 8;
/** The lowest numbers with which early stopping certifies p90 and p99. */
const DEFAULT_SINGLE_QUERIES = 64;
const DEFAULT_QUERIES = 662;

/** Validated options. */
export interface CheckedMlperf {
  readonly percentile?: number;
  readonly samplesPerQuery?: number;
  readonly latency?: Duration;
  readonly timeToFirstToken?: Duration;
  readonly timePerOutputToken?: Duration;
  readonly queries?: number;
  readonly samples?: number;
  readonly maxOutstanding?: number;
}

type MlperfKind = "single-stream" | "multi-stream" | "server" | "offline";

/** Returns the schemas of the options of a scenario. */
export function mlperfEntries(kind: MlperfKind): v.ObjectEntries {
  const count = v.optional(countSchema());
  const extent = { for: v.optional(spanSchema()) };
  if (kind === "offline") return { ...extent, samples: count, maxOutstanding: count };
  const entries = { ...extent, queries: count, percentile: v.optional(percentileSchema()) };
  if (kind === "multi-stream") return { ...entries, samplesPerQuery: count };
  if (kind === "single-stream") return entries;
  const seed = v.optional(v.pipe(v.number("must be a number"), v.integer("must be a whole number")));
  const limit = v.optional(spanSchema());
  return { ...entries, latency: limit, timeToFirstToken: limit, timePerOutputToken: limit, seed };
}

function percentileSchema() {
  return v.pipe(v.number("must be a number"), v.gtValue(0, "must be above 0"), v.ltValue(100, "must be below 100"));
}

interface MlperfLoad {
  readonly values: readonly number[];
  readonly options: CheckedMlperf & { readonly for?: Duration; readonly seed?: number };
}

function toLimitsPlan({ latency, timeToFirstToken, timePerOutputToken }: CheckedMlperf) {
  if (latency !== undefined) return { latencyLimitMs: toMs(latency) };
  if (timeToFirstToken === undefined || timePerOutputToken === undefined) return {};
  return {
    tokenLimits: { timeToFirstTokenMs: toMs(timeToFirstToken), timePerOutputTokenMs: toMs(timePerOutputToken) },
  };
}

/** What each scenario is in a plan, and the lowest number of its requests. */
const SCENARIOS: Readonly<
  Record<MlperfKind, { toPlan(load: MlperfLoad): LoadPlan; leastRequests(options: CheckedMlperf): number }>
> = {
  "single-stream": {
    toPlan: ({ options: { percentile = 90 } }) => ({ kind: "mlperf", scenario: "single-stream", percentile }),
    leastRequests: ({ queries = DEFAULT_SINGLE_QUERIES }) => queries,
  },
  "multi-stream": {
    toPlan: ({ options: { percentile = 99, samplesPerQuery = DEFAULT_SAMPLES_PER_QUERY } }) => ({
      kind: "mlperf",
      scenario: "multi-stream",
      percentile,
      samplesPerQuery,
    }),
    leastRequests: ({ queries = DEFAULT_QUERIES, samplesPerQuery = DEFAULT_SAMPLES_PER_QUERY }) =>
      queries * samplesPerQuery,
  },
  server: {
    toPlan: ({ values: [ratePerSec = 1], options: { percentile = 99, seed = 0, ...limits } }) => ({
      kind: "mlperf-server",
      ratePerSec,
      percentile,
      ...toLimitsPlan(limits),
      seed,
    }),
    leastRequests: ({ queries = DEFAULT_QUERIES }) => queries,
  },
  offline: {
    toPlan: ({ options: { maxOutstanding = DEFAULT_MAX_OUTSTANDING } }) => ({
      kind: "mlperf",
      scenario: "offline",
      maxOutstanding,
    }),
    leastRequests: ({ samples = DEFAULT_SAMPLES }) => samples,
  },
};

/** Converts a scenario of MLPerf to a load of a plan. */
export function toMlperfPlan(kind: MlperfKind): (load: MlperfLoad) => LoadPlan {
  return SCENARIOS[kind].toPlan;
}

/** Returns how long a load lasts that is a scenario of MLPerf; undefined for another one. */
export function mlperfExtent({
  kind,
  options,
}: MlperfLoad & { readonly kind: string }): MeasurementModePlan | undefined {
  if (!Object.hasOwn(SCENARIOS, kind)) return undefined;
  const count = SCENARIOS[kind as MlperfKind].leastRequests(options);
  return { kind: "requests", count, minDurationMs: toMs(options.for ?? DEFAULT_DURATION) };
}
