import * as v from "valibot";
import { count, described, type Parts } from "./parts.ts";

/** The result of an MLPerf scenario in Rampart's JSON report. Latencies are in nanoseconds, as in LoadGen's logs. */

/** The result as data. */
export type MlperfJson = v.InferOutput<ReturnType<typeof mlperfSchema>>;

/** One of the two token times, as data. */
export type MlperfTimeJson = NonNullable<MlperfJson["tokens"]>["timeToFirstToken"];

/** Latency statistics like LoadGen's, as data; empty if there are none. */
export type MlperfLatencyJson = Pick<MlperfJson, "latencyNs" | "percentilesNs">;

const optional = v.exactOptional;

/** Returns the schema of early stopping for a percentile with a limit. */
function limitedStop({ object }: Parts) {
  return object({ isMet: v.boolean(), overCount: count(), missingCount: count() });
}

/** Returns the schema of early stopping for an estimate of a percentile. */
function estimatedStop({ object }: Parts) {
  return object({
    isMet: v.boolean(),
    neededCount: count(),
    estimate: optional(object({ discardedCount: count(), latencyNs: v.number() })),
  });
}

function latencyEntries({ object }: Parts) {
  const ns = v.number();
  return {
    target: optional(object({ percentile: v.number(), latencyNs: ns })),
    latencyNs: optional(object({ minNs: ns, maxNs: ns, meanNs: ns })),
    percentilesNs: optional(object({ p50: ns, p90: ns, p95: ns, p97: ns, p99: ns, "p99.9": ns })),
  };
}

/** Returns the schema of the result by MLPerf's rules. */
export function mlperfSchema(parts: Parts) {
  const { object } = parts;
  const rate = optional(v.number());
  const time = object({
    count: count(),
    limitNs: v.number(),
    earlyStopping: limitedStop(parts),
    ...latencyEntries(parts),
  });
  return object({
    scenario: v.picklist(["single-stream", "multi-stream", "server", "offline"]),
    isValid: v.boolean(),
    broken: described(v.array(v.string()), "The rules that are not kept."),
    queryCount: count(),
    sampleCount: count(),
    earlyStopping: optional(v.union([limitedStop(parts), estimatedStop(parts)])),
    p99Stopping: optional(estimatedStop(parts)),
    samplesPerSec: rate,
    completedPerSec: rate,
    tokensPerSec: rate,
    withoutOverheadPerSec: rate,
    tokens: optional(object({ timeToFirstToken: time, timePerOutputToken: time })),
    ...latencyEntries(parts),
  });
}
