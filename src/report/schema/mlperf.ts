import * as v from "valibot";
import { count, described } from "./parts.ts";

/** The result of an MLPerf scenario in Rampart's JSON report. Latencies are in nanoseconds, as in LoadGen's logs. */

/** The result as data. */
export type MlperfJson = v.InferOutput<typeof mlperfSchema>;

/** One of the two token times, as data. */
export type MlperfTimeJson = NonNullable<MlperfJson["tokens"]>["timeToFirstToken"];

/** Latency statistics like LoadGen's, as data; empty if there are none. */
export type MlperfLatencyJson = Pick<MlperfJson, "latencyNs" | "percentilesNs">;

/** Schema of early stopping for a percentile with a limit. */
const limitedStop = v.object({ isMet: v.boolean(), overCount: count, missingCount: count });

/** Schema of early stopping for an estimate of a percentile. */
const estimatedStop = v.object({
  isMet: v.boolean(),
  neededCount: count,
  estimate: v.exactOptional(v.object({ discardedCount: count, latencyNs: v.number() })),
});

const ns = v.number();
const latencyEntries = {
  target: v.exactOptional(v.object({ percentile: v.number(), latencyNs: ns })),
  latencyNs: v.exactOptional(v.object({ minNs: ns, maxNs: ns, meanNs: ns })),
  percentilesNs: v.exactOptional(v.object({ p50: ns, p90: ns, p95: ns, p97: ns, p99: ns, "p99.9": ns })),
};

const rate = v.exactOptional(v.number());
const time = v.object({
  count: count,
  limitNs: v.number(),
  earlyStopping: limitedStop,
  ...latencyEntries,
});

/** Schema of the result by MLPerf's rules. */
export const mlperfSchema = v.object({
  scenario: v.picklist(["single-stream", "multi-stream", "server", "offline"]),
  isValid: v.boolean(),
  broken: described(v.array(v.string()), "The rules that are not kept."),
  queryCount: count,
  sampleCount: count,
  earlyStopping: v.exactOptional(v.union([limitedStop, estimatedStop])),
  p99Stopping: v.exactOptional(estimatedStop),
  samplesPerSec: rate,
  completedPerSec: rate,
  tokensPerSec: rate,
  withoutOverheadPerSec: rate,
  tokens: v.exactOptional(v.object({ timeToFirstToken: time, timePerOutputToken: time })),
  ...latencyEntries,
});
