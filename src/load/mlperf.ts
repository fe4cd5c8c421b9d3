import * as v from "valibot";
import { aboveZero, type PlanOf } from "../plan/schema.ts";
import { countOf } from "../plan/units.ts";
import { concurrencySchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** A scenario of MLPerf Inference that keeps requests in flight. */
export type MlperfLoadPlan = PlanOf<typeof schema>;

function schema() {
  const kind = v.literal("mlperf");
  const percentile = v.pipe(v.number(), aboveZero(), v.ltValue(100, "must be below 100"));
  return v.variant("scenario", [
    /** One request at a time. The result is a percentile of latency. */
    v.object({ kind, scenario: v.literal("single-stream"), percentile }),
    /** Queries of several requests sent together, one query at a time. The result is a percentile of the latency of queries. */
    v.object({ kind, scenario: v.literal("multi-stream"), percentile, samplesPerQuery: concurrencySchema() }),
    /** All requests are available from the start. The result is throughput. */
    v.object({ kind, scenario: v.literal("offline"), maxOutstanding: concurrencySchema() }),
  ]);
}

/** The scenarios of MLPerf Inference that keep requests in flight, as its LoadGen defines them. */
export const mlperfMode: LoadMode<MlperfLoadPlan> = {
  schema,
  prepare: (plan) => ({
    level: inFlightOf(plan),
    drive: () =>
      plan.scenario === "multi-stream"
        ? { kind: "groups", size: plan.samplesPerQuery }
        : { kind: "closed", concurrency: inFlightOf(plan) },
  }),
  unit: "concurrency",
  describe,
  describeLevel: describe,
  // Requests of a query wait for the slowest one.
  askedMean: (plan, level) => (plan.scenario === "multi-stream" ? undefined : level),
  mlperf: (plan) => ({
    scenario: plan.scenario,
    samplesPerQuery: plan.scenario === "multi-stream" ? plan.samplesPerQuery : 1,
    percentile: plan.scenario === "offline" ? null : plan.percentile,
    latencyLimitMs: null,
  }),
};

function inFlightOf(plan: MlperfLoadPlan): number {
  if (plan.scenario === "multi-stream") return plan.samplesPerQuery;
  return plan.scenario === "offline" ? plan.maxOutstanding : 1;
}

function describe(plan: MlperfLoadPlan): string {
  if (plan.scenario === "multi-stream")
    return `MLPerf multi-stream with ${countOf(plan.samplesPerQuery, "sample")} per query`;
  return plan.scenario === "offline"
    ? `MLPerf offline with ${countOf(plan.maxOutstanding, "request")} in flight`
    : "MLPerf single stream";
}
