import { countOf } from "../../plan/units.ts";
import { type GaugeReadings, type ReadingSeries, seriesOf } from "../gauge-readings.ts";
import { factsOf, type MeasuredPart, type Metric } from "./metric.ts";
import type { Sample } from "./sample.ts";

/** Megabytes per byte: memory is reported in MB. */
const MEGABYTES = 1e-6;

const NOT_ON_PAGE = "the server's page of metrics does not have it";

/** A value that is read from the server's metrics page. */
interface GaugeSource {
  /** Owner of the value: each of Triton's GPUs, or an engine. */
  readonly of: "gpu" | "engine";
  /** Names of the value on the page, by server. */
  readonly families: readonly string[];
  /** Required labels. A sample with another value of such a label is a different metric. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Whether perf_analyzer reports the value, so that a missing one needs a warning. Default: false */
  readonly isReported?: boolean;
}

/** Triton's GPU metrics, and the usage of an engine's KV cache. Energy is counted from the start of the server. */
export const GAUGES = {
  gpuUtilizationRatio: { of: "gpu", families: ["nv_gpu_utilization"], isReported: true },
  gpuPowerWatts: { of: "gpu", families: ["nv_gpu_power_usage"], isReported: true },
  gpuPowerLimitWatts: { of: "gpu", families: ["nv_gpu_power_limit"] },
  gpuEnergyJoules: { of: "gpu", families: ["nv_energy_consumption"] },
  gpuMemoryUsedBytes: { of: "gpu", families: ["nv_gpu_memory_used_bytes"], isReported: true },
  gpuMemoryTotalBytes: { of: "gpu", families: ["nv_gpu_memory_total_bytes"], isReported: true },
  kvCacheUsageRatio: {
    of: "engine",
    // vLLM, its older versions, SGLang, and TensorRT-LLM on Triton.
    families: [
      ...["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"],
      ...["sglang:token_usage", "nv_trt_llm_kv_cache_block_metrics"],
    ],
    // TensorRT-LLM reports numbers of blocks under the same name.
    labels: { kv_cache_block_type: "fraction" },
  },
} as const satisfies Readonly<Record<string, GaugeSource>>;

export type Gauge = keyof typeof GAUGES;

/** All names, in the order of reports. */
export const GAUGE_KEYS = Object.keys(GAUGES) as readonly Gauge[];

export function gaugeSourceOf(gauge: Gauge): GaugeSource {
  return GAUGES[gauge];
}

const GAUGE_ENTRIES = {
  /** Ratio of an engine's KV cache in use: vLLM, SGLang, TensorRT-LLM. */
  kvCacheUsage: { label: "KV cache usage", quantity: "ratio", ...readingsOf("kvCacheUsageRatio") },
  /** Ratio of the time in which a GPU was busy. */
  gpuUtilization: { label: "GPU utilization", quantity: "ratio", ...readingsOf("gpuUtilizationRatio") },
  gpuPower: { label: "GPU power", quantity: "number", unit: "W", better: "lower", ...readingsOf("gpuPowerWatts") },
  gpuMemoryUsed: {
    label: "GPU memory used",
    quantity: "number",
    unit: "MB",
    better: "lower",
    ...readingsOf("gpuMemoryUsedBytes", MEGABYTES),
  },
  /** Energy of all GPUs in the measured time, from their mean power between the first and the last reading: see {@link energyOf}. */
  gpuEnergy: {
    label: "GPU energy",
    quantity: "number",
    unit: "J",
    better: "lower",
    needs: "gauges",
    value: (part) => energyOf(part)?.joules,
    ends: (part) => {
      const { joules, errorJoules } = energyOf(part) as Energy;
      return { low: joules - errorJoules, high: joules + errorJoules };
    },
    explain: ({ window }) => {
      const series = energySeriesOf(window);
      if (series.length === 0) return NOT_ON_PAGE;
      if (series.some(({ first, last }) => last < first)) return "the server was restarted meanwhile";
      const fewest = Math.min(...series.map(({ changeCount }) => changeCount));
      return `its counter was seen to grow ${countOf(fewest, "time")}, which is too few for this level. Measure for longer`;
    },
  },
} as const satisfies Readonly<Record<string, Metric>>;

/**
 * Metrics of the server's GPUs and of its KV cache, from its metrics page. To add one, add an entry here, and in {@link GAUGES}
 * if it is not read yet.
 */
export const GAUGE_METRICS = factsOf(GAUGE_ENTRIES);

/** Energy of GPUs, and its maximum error. */
interface Energy {
  readonly joules: number;
  readonly errorJoules: number;
}

/**
 * Returns the energy of all GPUs in a measured time. Two parts are unknown: the energy used outside of the readings, which is 0
 * to twice the energy at mean power, and one step of the counter, which the server updates from time to time.
 * @returns undefined if the error may exceed 100 %
 */
function energyOf({ window }: MeasuredPart): Energy | undefined {
  const all = energySeriesOf(window).map(({ first, last, firstNs, lastNs, changeCount }): Energy => {
    // A counter that decreased was restarted with the server.
    if (changeCount === 0 || last < first) return { joules: Number.NaN, errorJoules: Number.NaN };
    const joules = ((last - first) / (lastNs - firstNs)) * window.durationNs;
    return { joules, errorJoules: Math.abs(joules - (last - first)) + joules / changeCount };
  });
  const sum = (pick: (one: Energy) => number): number => all.reduce((before, one) => before + pick(one), 0);
  const [joules, errorJoules] = [sum((one) => one.joules), sum((one) => one.errorJoules)];
  return errorJoules < joules ? { joules, errorJoules } : undefined;
}

function energySeriesOf({ gauges }: MeasuredPart["window"]): ReadingSeries[] {
  return gauges === undefined ? [] : seriesOf(gauges, "gpuEnergyJoules").map(([, series]) => series);
}

/** UUIDs of all GPUs that have been read, sorted. */
export function gpuUuidsOf({ series }: GaugeReadings): string[] {
  const gauges = GAUGE_KEYS.filter((gauge) => gaugeSourceOf(gauge).of === "gpu");
  return [...new Set(gauges.flatMap((gauge) => Object.keys(series[gauge] ?? {})))].sort();
}

/** @param scale factor from the gauge's unit to the metric's */
function readingsOf(gauge: Gauge, scale = 1) {
  return {
    needs: "gauges",
    statistics: ["mean", "max"],
    sample: ({ window }: MeasuredPart): Sample | undefined => sampleOf(window.gauges, gauge, scale),
    explain: () => NOT_ON_PAGE,
  } as const;
}

/** Returns the mean over all GPUs, and the largest reading of one. */
function sampleOf(readings: GaugeReadings | undefined, gauge: Gauge, scale: number): Sample | undefined {
  const series = readings === undefined ? [] : seriesOf(readings, gauge).map(([, one]) => one);
  const count = series.reduce((sum, one) => sum + one.count, 0);
  return {
    count,
    mean: (scale * series.reduce((sum, one) => sum + one.mean, 0)) / series.length,
    max: scale * Math.max(...series.map(({ max }) => max)),
  };
}
