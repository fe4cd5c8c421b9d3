import * as v from "valibot";
import { SCALE } from "../../measure/exponential-histogram.ts";
import { GAUGE_KEYS, type Gauge } from "../../measure/metrics/gpu-metrics.ts";
import { count, type Parts } from "./parts.ts";

/** A run over time in Rampart's JSON report, of a bounded size for runs of any length. Times are seconds since the start of the run. */

/** A run over time as data. */
export type OverTimeJson = v.InferOutput<ReturnType<typeof overTimeSchema>>;

/** An interval of a time line, with the requests that ended in it. */
export function intervalEntries() {
  return {
    startSec: v.number(),
    endSec: v.number(),
    requests: v.pipe(count(), v.description("Successful ones.")),
    failed: count(),
    cancelled: v.exactOptional(count()),
    outstandingMean: v.number(),
  };
}

/** An interval as data. */
export type IntervalJson = v.InferOutput<v.StrictObjectSchema<ReturnType<typeof intervalEntries>, undefined>>;

/** What was seen of a run over time. */
export function overTimeSchema({ object }: Parts) {
  const extent = { startSec: v.number(), endSec: v.number() };
  const step = object({
    ...intervalEntries(),
    latencyBuckets: v.pipe(
      v.string(),
      v.description(
        `Latencies as bucket:count with commas; bucket n is above 2^(n/${2 ** SCALE}) s, up to 2^((n+1)/${2 ** SCALE}) s.`,
      ),
    ),
  });
  const window = object({
    index: v.pipe(count(), v.description("From 1, in its level.")),
    ...extent,
    throughputPerSec: v.number(),
    latencyUs: v.pipe(v.number(), v.description("The latency that stability is based on.")),
    server: v.exactOptional(
      v.pipe(object({ queueUs: v.number(), computeUs: v.number() }), v.description("Averages in the server.")),
    ),
  });
  const span = object({ label: v.string(), isWarmup: v.boolean(), ...extent });
  const values = v.exactOptional(v.array(v.number()));
  const readings = Object.fromEntries(GAUGE_KEYS.map((metric) => [metric, values])) as Record<Gauge, typeof values>;
  const gpu = object({ uuid: v.string(), atSec: v.array(v.number()), ...readings });
  return object({
    steps: v.pipe(v.array(step), v.description("All requests of the run, also those of warm-ups.")),
    windows: v.array(window),
    spans: v.pipe(v.array(span), v.description("Warm-ups and levels.")),
    gpus: v.pipe(v.array(gpu), v.description("The readings of a metric of a GPU, in its field.")),
  });
}
