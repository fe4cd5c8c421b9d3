import type { GpuTally } from "../../measure/gpu-tally.ts";
import { formatCount, formatPct } from "../../plan/units.ts";
import { summarizeGpus } from "../json/gpus.ts";
import type { GpuJson } from "../schema/latency.ts";

/** A megabyte, in bytes. */
const BYTES_PER_MB = 1e6;

/** Returns a line per GPU. */
export function describeGpus(tally: GpuTally): string[] {
  if (tally.count === 0) return ["no metrics of the server were read in the measured time"];
  const readings = `${formatCount(tally.count)} reading${tally.count === 1 ? "" : "s"}`;
  const gpus = summarizeGpus(tally);
  if (gpus.length === 0) return [`the server's metrics name no GPU (${readings})`];
  return gpus.map((gpu) => `${gpu.uuid}: ${describeGpu(gpu).join(", ")} (${readings})`);
}

function describeGpu(gpu: GpuJson): string[] {
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
