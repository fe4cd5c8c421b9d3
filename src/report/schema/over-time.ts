import * as v from "valibot";
import { GPU_METRICS, type GpuMetric } from "../../measure/gpu-tally.ts";
import { count, type Parts } from "./parts.ts";

/** A run over time in Rampart's JSON report, of a bounded size for runs of any length. Times are seconds since the start of the run. */

/** Latencies within a bin differ by 1 %. */
export const BINS_PER_DECADE = 240;

/** A run over time as data. */
export type OverTimeJson = v.InferOutput<ReturnType<typeof overTimeSchema>>;

/** What was seen of a run over time. */
export function overTimeSchema({ object }: Parts) {
  const extent = { startSec: v.number(), endSec: v.number() };
  const step = object({
    ...extent,
    requests: v.pipe(count(), v.description("Successful requests that ended in it, also those of warm-ups.")),
    failed: count(),
    outstandingMean: v.number(),
    latencyBins: v.pipe(
      v.string(),
      v.description(`Latencies as bin:count with commas; bin n begins at 10^(n/${BINS_PER_DECADE}) us.`),
    ),
  });
  const window = object({
    index: v.pipe(count(), v.description("From 1, in its level.")),
    ...extent,
    inferPerSec: v.number(),
    latencyUs: v.pipe(v.number(), v.description("The latency that stability is based on.")),
    server: v.exactOptional(
      v.pipe(object({ queueUs: v.number(), computeUs: v.number() }), v.description("Averages in the server.")),
    ),
  });
  const span = object({ label: v.string(), isWarmup: v.boolean(), ...extent });
  const values = v.exactOptional(v.array(v.number()));
  const readings = Object.fromEntries(GPU_METRICS.map((metric) => [metric, values])) as Record<
    GpuMetric,
    typeof values
  >;
  const gpu = object({ uuid: v.string(), atSec: v.array(v.number()), ...readings });
  return object({
    steps: v.array(step),
    windows: v.array(window),
    spans: v.pipe(v.array(span), v.description("Warm-ups and levels.")),
    gpus: v.pipe(v.array(gpu), v.description("The readings of a metric of a GPU, in its field.")),
  });
}
