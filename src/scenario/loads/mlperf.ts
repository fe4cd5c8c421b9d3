import * as v from "valibot";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { type EntriesOf, integerSchema } from "../../plan/schema.ts";
import type { Duration } from "../../plan/units.ts";
import { percentileSchema } from "../../registry/metric-schema.ts";
import { refuseMore } from "../arguments.ts";
import { countSchema, spanSchema, strictOptions, toMs } from "../fields.ts";
import { callOf } from "../form.ts";
import { responseTypeOf } from "../targets/llm-content.ts";
import { targetBuilderOf } from "../targets/table.ts";
import type { AnyTarget } from "../targets/target-builder.ts";
import { inFlightSchema, ratesSchema } from "./extent.ts";
import type { Load } from "./load.ts";
import { loadBuilder } from "./load-builder.ts";

/**
 * The scenarios of MLPerf Inference, with the defaults of its `mlperf.conf`
 * (https://github.com/mlcommons/inference/blob/master/loadgen/mlperf.conf).
 */

/** Length of an MLPerf scenario: it lasts until both the time and the number of queries are reached. */
export interface MlperfExtent {
  /** Shortest time. Default: `"10 min"`, as required for submissions. */
  readonly for?: Duration;
  /**
   * Lowest number of queries, which are requests or, for `multiStream`, groups of them. Default: the number that early
   * stopping needs.
   */
  readonly queries?: number;
}

/** Options of `singleStream`. */
export interface SingleStreamOptions extends MlperfExtent {
  /** The percentile of latency that is the result, from 1 to below 100. Default: 90. */
  readonly percentile?: number;
}

/** Options of `multiStream`. */
export interface MultiStreamOptions extends MlperfExtent {
  /** Number of requests of a query, which are sent together. Default: 8. */
  readonly samplesPerQuery?: number;
  /** The percentile of the latency of queries that is the result, from 1 to below 100. Default: 99. */
  readonly percentile?: number;
}

/** Options of `server`, without a rule about which limits are given. */
export interface ServerOptions extends MlperfExtent {
  /** Limit of latency, from the time when a request was due. Give either this, or the two limits of tokens. */
  readonly latency?: Duration;
  /**
   * Limit of the time from when a request was due to its first token, for targets that stream (LoadGen's TTFT). Needs
   * `timePerOutputToken`.
   */
  readonly timeToFirstToken?: Duration;
  /**
   * Limit of the time from the first to the last token, divided by the number of tokens after the first (LoadGen's TPOT).
   * Needs `timeToFirstToken`.
   */
  readonly timePerOutputToken?: Duration;
  /** The percentile that must be within each limit, from 1 to below 100. Default: 99. */
  readonly percentile?: number;
  /** Seed of the gaps between requests. Default: 0. */
  readonly seed?: number;
}

/** Options of `server`: a limit of latency, or limits of streamed tokens. */
export type LimitedServerOptions = ServerOptions &
  (
    | { readonly latency: Duration; readonly timeToFirstToken?: never; readonly timePerOutputToken?: never }
    | { readonly latency?: never; readonly timeToFirstToken: Duration; readonly timePerOutputToken: Duration }
  );

/** Options of `offline`. */
export interface OfflineOptions {
  /** Shortest time. Default: `"10 min"`, as required for submissions. */
  readonly for?: Duration;
  /** Lowest number of requests. Default: 24,576. */
  readonly samples?: number;
  /** Number of requests in flight: as many as the server needs to be busy all the time. Default: 64. */
  readonly concurrency?: number;
}

const DEFAULT_DURATION: Duration = "10 min";
const DEFAULT_SAMPLES = 24_576;
const DEFAULT_CONCURRENCY = 64;
const DEFAULT_SAMPLES_PER_QUERY = 8;
/** The lowest numbers with which early stopping certifies p90 and p99. */
const DEFAULT_SINGLE_QUERIES = 64;
const DEFAULT_QUERIES = 662;

function queriesEntries() {
  return {
    for: v.optional(spanSchema()),
    queries: v.optional(countSchema()),
    percentile: v.optional(percentileSchema()),
  };
}

/** Returns the length of a scenario. @param count lowest number of requests */
function lasting(count: number, duration: Duration = DEFAULT_DURATION): MeasurementModePlan {
  return { kind: "requests", count, minDurationMs: toMs(duration) };
}

/**
 * MLPerf's single stream: one request at a time. The result is the 90th percentile of latency.
 * @example
 * mlperf.singleStream({ for: "1 min" })
 */
export function singleStream(options: SingleStreamOptions = {}): Load<"closed", "alone"> {
  refuseMore("mlperf.singleStream(options)", arguments);
  return { kind: "single-stream", pacing: "closed", values: [], options };
}

export const singleStreamBuilder = loadBuilder({
  form: { name: "mlperf.singleStream" },
  options: () => strictOptions(queriesEntries()),
  toPlan: ({ options: { percentile = 90 } }) => ({ kind: "mlperf", scenario: "single-stream", percentile }),
  extent: ({ for: duration, queries = DEFAULT_SINGLE_QUERIES }) => lasting(queries, duration),
});

/**
 * MLPerf's multi-stream: queries of 8 requests sent together, one query at a time. The result is the 99th percentile of their latency.
 * @example
 * mlperf.multiStream()
 */
export function multiStream(options: MultiStreamOptions = {}): Load<"closed", "alone"> {
  refuseMore("mlperf.multiStream(options)", arguments);
  return { kind: "multi-stream", pacing: "closed", values: [], options };
}

export const multiStreamBuilder = loadBuilder({
  form: { name: "mlperf.multiStream" },
  options: () => strictOptions({ ...queriesEntries(), samplesPerQuery: v.optional(inFlightSchema()) }),
  toPlan: ({ options: { percentile = 99, samplesPerQuery = DEFAULT_SAMPLES_PER_QUERY } }) => ({
    kind: "mlperf",
    scenario: "multi-stream",
    percentile,
    samplesPerQuery,
  }),
  extent: ({ for: duration, queries = DEFAULT_QUERIES, samplesPerQuery = DEFAULT_SAMPLES_PER_QUERY }) =>
    lasting(queries * samplesPerQuery, duration),
});

/**
 * MLPerf's server: a Poisson process of requests. The result is the rate, if the 99th percentile of latency, or of the times of streamed
 * tokens, is within its limit.
 * @example
 * mlperf.server(100, { latency: "15 ms" })
 */
export function server(perSec: number, options: LimitedServerOptions): Load<"scheduled", "alone"> {
  refuseMore("mlperf.server(perSec, options)", arguments);
  return { kind: "server", pacing: "scheduled", values: [perSec], options };
}

export const serverBuilder = loadBuilder({
  form: { name: "mlperf.server", args: ["perSec"] },
  values: ratesSchema,
  options: () => {
    const seed = v.optional(integerSchema());
    return strictOptions({ ...queriesEntries(), ...limitEntries(), seed });
  },
  check: ({ options }) => checkServerLimits(options),
  toPlan: ({ values: [ratePerSec = 1], options: { percentile = 99, seed = 0, ...limits } }) => ({
    kind: "mlperf-server",
    ratePerSec,
    percentile,
    ...toLimitsPlan(limits),
    seed,
  }),
  extent: ({ for: duration, queries = DEFAULT_QUERIES }) => lasting(queries, duration),
  checkTargets: checkServerTargets,
});

type ServerLimits = EntriesOf<typeof limitEntries>;

function limitEntries() {
  const limit = v.optional(spanSchema());
  return { latency: limit, timeToFirstToken: limit, timePerOutputToken: limit };
}

function toLimitsPlan({ latency, timeToFirstToken, timePerOutputToken }: ServerLimits) {
  if (latency !== undefined) return { latencyLimitMs: toMs(latency) };
  if (timeToFirstToken === undefined || timePerOutputToken === undefined) return {};
  return {
    tokenLimits: { timeToFirstTokenMs: toMs(timeToFirstToken), timePerOutputTokenMs: toMs(timePerOutputToken) },
  };
}

/** Names of the limits of tokens, which LoadGen judges together, and instead of latency. */
const TOKEN_LIMITS = ["timeToFirstToken", "timePerOutputToken"] as const;

function checkServerLimits(options: ServerLimits): Problem[] {
  const given = TOKEN_LIMITS.filter((name) => options[name] !== undefined);
  if (options.latency !== undefined)
    return given.map((name) =>
      problem("conflict", `load.${name}`, "cannot be given together with latency", "Limit latency, or tokens."),
    );
  if (given.length === TOKEN_LIMITS.length) return [];
  if (given.length === 0) {
    const hint = "Add it, or timeToFirstToken and timePerOutputToken for a target that streams tokens.";
    return [problem("missing", "load.latency", "is missing", hint)];
  }
  const [lacking] = TOKEN_LIMITS.filter((name) => options[name] === undefined);
  const message = `is missing: MLPerf limits it together with ${given[0]}`;
  return [
    problem("missing", `load.${lacking}`, message, "Add it, as a duration that is long enough if it has no limit."),
  ];
}

/** Returns the targets without streamed tokens to limit. */
function checkServerTargets({ timeToFirstToken }: ServerLimits, targets: readonly AnyTarget[]): Problem[] {
  if (timeToFirstToken === undefined) return [];
  return targets.flatMap((target): Problem[] => {
    const builder = targetBuilderOf(target);
    const found = builder.content?.(target, "");
    const type = found && responseTypeOf(found);
    if (type === "stream") return [];
    const hint =
      type === "text"
        ? "Set streaming: true in the target's options, or limit latency."
        : "Measure a target that streams tokens, or limit latency.";
    const message = `needs streamed tokens, and responses of ${callOf(builder)} are not streamed`;
    return [problem("conflict", "load.timeToFirstToken", message, hint, String(timeToFirstToken))];
  });
}

/**
 * MLPerf's offline scenario: all requests are available from the start. The result is throughput.
 * @example
 * mlperf.offline()
 */
export function offline(options: OfflineOptions = {}): Load<"closed", "alone"> {
  refuseMore("mlperf.offline(options)", arguments);
  return { kind: "offline", pacing: "closed", values: [], options };
}

export const offlineBuilder = loadBuilder({
  form: { name: "mlperf.offline" },
  options: () =>
    strictOptions({
      for: v.optional(spanSchema()),
      samples: v.optional(countSchema()),
      concurrency: v.optional(inFlightSchema()),
    }),
  toPlan: ({ options: { concurrency = DEFAULT_CONCURRENCY } }) => ({
    kind: "mlperf",
    scenario: "offline",
    maxOutstanding: concurrency,
  }),
  extent: ({ for: duration, samples = DEFAULT_SAMPLES }) => lasting(samples, duration),
});

/** The loads of MLPerf Inference. */
export const mlperf = { multiStream, offline, server, singleStream };
