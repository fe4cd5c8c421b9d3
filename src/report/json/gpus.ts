import { type GpuMetric, type GpuTally, gpuSeriesOf, gpuUuidsOf, ofGpu } from "../../measure/gpu-tally.ts";
import type { Measurement } from "../../measure/measurement.ts";
import type { TelemetryJson } from "../schema/metrics.ts";
import { toMetricsJson } from "./metrics.ts";

/** Converts the readings of a server's page, by GPU. Metrics that the server does not report are absent. */
export function toTelemetryJson(tally: GpuTally): TelemetryJson {
  const lastOf = (uuid: string, metric: GpuMetric): number | undefined =>
    gpuSeriesOf(tally, metric).find(([of]) => of === uuid)?.[1].last;
  return {
    readings: tally.count,
    gpus: gpuUuidsOf(tally).map((uuid) => {
      const [powerLimitWatts, memoryTotalBytes] = [lastOf(uuid, "powerLimitWatts"), lastOf(uuid, "memoryTotalBytes")];
      return {
        uuid,
        metrics: toMetricsJson({ window: { gpu: ofGpu(tally, uuid) } as Measurement }, 1, {
          isWanted: ({ needs }) => needs === "page",
        }),
        ...(powerLimitWatts === undefined ? {} : { powerLimitWatts }),
        ...(memoryTotalBytes === undefined ? {} : { memoryTotalBytes }),
      };
    }),
  };
}
