/** Metrics of a GPU, and of an engine the use of its KV cache. Energy is counted since the server started. */
export const GPU_METRICS = [
  "utilizationRatio",
  "powerWatts",
  "powerLimitWatts",
  "energyJoules",
  "memoryUsedBytes",
  "memoryTotalBytes",
  "kvCacheRatio",
] as const;

/** Name of a GPU metric. */
export type GpuMetric = (typeof GPU_METRICS)[number];

/** One scrape: values by metric and GPU UUID, or name of the engine. Metrics that the server does not report are absent. */
export type GpuReading = { readonly [K in GpuMetric]?: ReadonlyMap<string, number> };

/** A summary of one metric's readings on one GPU. */
export interface GpuSeries {
  readonly count: number;
  readonly mean: number;
  readonly max: number;
  readonly first: number;
  readonly last: number;
}

/** Combines GPU readings in constant memory. */
export class GpuTally {
  private readings = 0;
  private readonly series = new Map<GpuMetric, Map<string, GpuSeries>>();

  /** Number of readings, including those without a GPU. */
  get count(): number {
    return this.readings;
  }

  add(reading: GpuReading): void {
    this.readings++;
    for (const metric of GPU_METRICS) {
      for (const [uuid, value] of reading[metric] ?? [])
        this.append(metric, uuid, { count: 1, mean: value, max: value, first: value, last: value });
    }
  }

  /** Adds a later tally. */
  merge(later: GpuTally): void {
    this.readings += later.readings;
    for (const [metric, byUuid] of later.series) {
      for (const [uuid, series] of byUuid) this.append(metric, uuid, series);
    }
  }

  /** Returns a metric by GPU UUID, sorted. */
  of(metric: GpuMetric): [uuid: string, series: GpuSeries][] {
    return [...(this.series.get(metric) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** UUIDs of all GPUs, sorted. */
  get uuids(): string[] {
    const uuids = new Set<string>();
    for (const [metric, byUuid] of this.series)
      if (metric !== "kvCacheRatio") for (const uuid of byUuid.keys()) uuids.add(uuid);
    return [...uuids].sort();
  }

  private append(metric: GpuMetric, uuid: string, later: GpuSeries): void {
    let byUuid = this.series.get(metric);
    if (byUuid === undefined) {
      byUuid = new Map();
      this.series.set(metric, byUuid);
    }
    const earlier = byUuid.get(uuid);
    byUuid.set(uuid, earlier === undefined ? later : joinSeries(earlier, later));
  }
}

function joinSeries(earlier: GpuSeries, later: GpuSeries): GpuSeries {
  const count = earlier.count + later.count;
  return {
    count,
    mean: (earlier.mean * earlier.count + later.mean * later.count) / count,
    max: Math.max(earlier.max, later.max),
    first: earlier.first,
    last: later.last,
  };
}
