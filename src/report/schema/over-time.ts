import * as v from "valibot";
import { SCALE } from "../../measure/exponential-histogram.ts";
import { GAUGE_KEYS, type Gauge } from "../../measure/metrics/server-gauges.ts";
import { count, described } from "./parts.ts";

/** A run over time in Rampart's JSON report, with a bounded size for runs of any length. Times are seconds since the start of the run. */

/** A run over time as data. */
export type OverTimeJson = v.InferOutput<typeof overTimeSchema>;

/** Schema entries of an interval of a timeline, with the requests that ended in it. */
export const intervalEntries = {
  startSec: v.number(),
  endSec: v.number(),
  completed: count,
  failed: count,
  cancelled: v.exactOptional(count),
  inFlightMean: v.number(),
};

/** An interval as data. */
export type IntervalJson = v.InferOutput<v.ObjectSchema<typeof intervalEntries, undefined>>;

const extent = { startSec: v.number(), endSec: v.number() };
const interval = v.object({
  ...intervalEntries,
  latencyBuckets: described(
    v.string(),
    `Latencies as bucket:count with commas; bucket n is above 2^(n/${2 ** SCALE}) s, up to 2^((n+1)/${2 ** SCALE}) s.`,
  ),
});
const window = v.object({
  index: described(count, "From 1, in its level."),
  ...extent,
  throughputPerSec: v.number(),
  latencyUs: described(v.number(), "The latency that stability is based on."),
  server: v.exactOptional(described(v.object({ queueUs: v.number(), computeUs: v.number() }), "Means in the server.")),
});
const span = v.object({ label: v.string(), isWarmup: v.boolean(), ...extent });
const values = v.exactOptional(v.array(v.number()));
const readings = Object.fromEntries(GAUGE_KEYS.map((metric) => [metric, values])) as Record<Gauge, typeof values>;
const gpu = v.object({ uuid: v.string(), atSec: v.array(v.number()), ...readings });

/** Schema of a run over time. */
export const overTimeSchema = v.object({
  timeline: described(v.array(interval), "All requests of the run, also those of warm-ups."),
  windows: v.array(window),
  spans: described(v.array(span), "Warm-ups and levels."),
  gpus: described(v.array(gpu), "The readings of a metric of a GPU, in its field."),
});
