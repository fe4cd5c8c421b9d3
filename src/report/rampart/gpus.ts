import { type GpuMetric, type GpuSeries, type GpuTally, gpuSeriesOf, gpuUuidsOf } from "../../measure/gpu-tally.ts";
import { formatCount, formatPct } from "../../plan/units.ts";

/** A megabyte, in bytes. */
const BYTES_PER_MB = 1e6;

/** Summary of a GPU's samples; null when the server does not report the metric. */
interface GpuSummary {
  readonly uuid: string;
  readonly utilizationMeanRatio: number | null;
  readonly powerMeanWatts: number | null;
  readonly powerLimitWatts: number | null;
  /** From the first sample to the last. */
  readonly energyJoules: number | null;
  readonly memoryUsedMaxBytes: number | null;
  readonly memoryTotalBytes: number | null;
}

function summarise(tally: GpuTally): GpuSummary[] {
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
export function toGpuJson(tally: GpuTally): object {
  return { readings: tally.count, gpus: summarise(tally) };
}

/** Returns a line per GPU. */
export function describeGpus(tally: GpuTally): string[] {
  if (tally.count === 0) return ["no metrics of the server were read in the measured time"];
  const readings = `${formatCount(tally.count)} reading${tally.count === 1 ? "" : "s"}`;
  const gpus = summarise(tally);
  if (gpus.length === 0) return [`the server's metrics name no GPU (${readings})`];
  return gpus.map((gpu) => `${gpu.uuid}: ${describeGpu(gpu).join(", ")} (${readings})`);
}

function describeGpu(gpu: GpuSummary): string[] {
  const parts: string[] = [];
  if (gpu.utilizationMeanRatio !== null) parts.push(`${formatPct(gpu.utilizationMeanRatio)} busy`);
  if (gpu.powerMeanWatts !== null) {
    const limit = gpu.powerLimitWatts === null ? "" : ` of ${formatCount(gpu.powerLimitWatts)} W`;
    parts.push(`${formatCount(gpu.powerMeanWatts)} W on average${limit}`);
  }
  if (gpu.energyJoules !== null) parts.push(`${formatCount(gpu.energyJoules)} J spent`);
  if (gpu.memoryUsedMaxBytes !== null) {
    const total = gpu.memoryTotalBytes === null ? "" : ` of ${formatMegabytes(gpu.memoryTotalBytes)}`;
    parts.push(`at most ${formatMegabytes(gpu.memoryUsedMaxBytes)}${total} of memory used`);
  }
  return parts;
}

function formatMegabytes(bytes: number): string {
  return `${formatCount(Math.round(bytes / BYTES_PER_MB))} MB`;
}
