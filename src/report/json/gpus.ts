import { type GpuMetric, type GpuSeries, type GpuTally, gpuSeriesOf, gpuUuidsOf } from "../../measure/gpu-tally.ts";
import type { GpuJson, GpusJson } from "../schema/latency.ts";

/** Sums up the samples of each GPU; null where the server does not report a metric. Energy is from the first sample to the last. */
export function summarizeGpus(tally: GpuTally): GpuJson[] {
  const seriesOf = (metric: GpuMetric): Map<string, GpuSeries> => new Map(gpuSeriesOf(tally, metric));
  const [utilization, power, powerLimit] = [
    seriesOf("utilizationRatio"),
    seriesOf("powerWatts"),
    seriesOf("powerLimitWatts"),
  ];
  const [energy, memoryUsed, memoryTotal] = [
    seriesOf("energyJoules"),
    seriesOf("memoryUsedBytes"),
    seriesOf("memoryTotalBytes"),
  ];
  return gpuUuidsOf(tally).map((uuid) => ({
    uuid,
    utilizationMeanRatio: utilization.get(uuid)?.mean ?? null,
    powerMeanWatts: power.get(uuid)?.mean ?? null,
    powerLimitWatts: powerLimit.get(uuid)?.last ?? null,
    energyJoules: energySpent(energy.get(uuid)),
    memoryUsedMaxBytes: memoryUsed.get(uuid)?.max ?? null,
    memoryTotalBytes: memoryTotal.get(uuid)?.first ?? null,
  }));
}

/** A single sample spans no time. A counter that decreased was restarted with the server. */
function energySpent(series: GpuSeries | undefined): number | null {
  if (series === undefined || series.count < 2 || series.last < series.first) return null;
  return series.last - series.first;
}

/** Converts the metrics to JSON, with units in the names. */
export function toGpuJson(tally: GpuTally): GpusJson {
  return { readings: tally.count, gpus: summarizeGpus(tally) };
}
