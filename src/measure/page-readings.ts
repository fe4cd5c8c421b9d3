/** Readings of the server's page of metrics: those of GPUs, and of an engine the use of its KV cache. */

/** What is read. Energy is counted since the server started. */
export const PAGE_METRICS = [
  "utilizationRatio",
  "powerWatts",
  "powerLimitWatts",
  "energyJoules",
  "memoryUsedBytes",
  "memoryTotalBytes",
  "kvCacheRatio",
] as const;

/** Name of what is read. */
export type PageMetric = (typeof PAGE_METRICS)[number];

/** One scrape: values by metric and GPU UUID, or name of the engine. Metrics that the server does not report are absent. */
export type PageReading = { readonly [K in PageMetric]?: ReadonlyMap<string, number> };

/** A summary of one metric's readings on one GPU, or of one engine. */
export interface ReadingSeries {
  readonly count: number;
  readonly mean: number;
  readonly max: number;
  readonly first: number;
  readonly last: number;
}

/** Readings of a time, combined in constant memory; plain data. */
export interface PageReadings {
  /** Number of readings, including those without a GPU. */
  readonly count: number;
  /** By metric and GPU UUID, or name of the engine. */
  readonly series: { readonly [K in PageMetric]?: Readonly<Record<string, ReadingSeries>> };
}

/** No readings. */
export const NO_READINGS: PageReadings = { count: 0, series: {} };

/** Adds a later reading. */
export function addReading(tally: PageReadings, reading: PageReading): PageReadings {
  const series: { [K in PageMetric]?: Record<string, ReadingSeries> } = {};
  for (const metric of PAGE_METRICS) {
    const values = [...(reading[metric] ?? [])];
    if (values.length === 0) continue;
    series[metric] = Object.fromEntries(
      values.map(([uuid, value]) => [uuid, { count: 1, mean: value, max: value, first: value, last: value }]),
    );
  }
  return joinTwo(tally, { count: 1, series }, followOn);
}

/** Joins the readings of several times; undefined without any. @param way `parallel`: they were read at the same time */
export function joinReadings(
  tallies: readonly (PageReadings | undefined)[],
  way: "in-time" | "parallel",
): PageReadings | undefined {
  const known = tallies.filter((tally) => tally !== undefined);
  const ends = way === "in-time" ? followOn : bothEnds;
  return known.length === 0 ? undefined : known.reduce((before, next) => joinTwo(before, next, ends));
}

/** Returns a metric by GPU UUID, or name of the engine, sorted. */
export function seriesOf({ series }: PageReadings, metric: PageMetric): [uuid: string, series: ReadingSeries][] {
  return Object.entries(series[metric] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns the readings of one GPU. */
export function ofGpu({ count, series }: PageReadings, uuid: string): PageReadings {
  const own = Object.entries(series).flatMap(([metric, byUuid]) => {
    const found = byUuid[uuid];
    return found === undefined ? [] : [[metric, { [uuid]: found }] as const];
  });
  return { count, series: Object.fromEntries(own) };
}

/** UUIDs of all GPUs, sorted. */
export function gpuUuidsOf({ series }: PageReadings): string[] {
  const all = Object.entries(series).filter(([metric]) => metric !== "kvCacheRatio");
  return [...new Set(all.flatMap(([, byUuid]) => Object.keys(byUuid)))].sort();
}

/** Returns the first and the last value of two series. */
type Ends = (one: ReadingSeries, other: ReadingSeries) => Pick<ReadingSeries, "first" | "last">;

const followOn: Ends = (earlier, later) => ({ first: earlier.first, last: later.last });
/** Which reading was first is not known; counters only grow. */
const bothEnds: Ends = (one, other) => ({
  first: Math.min(one.first, other.first),
  last: Math.max(one.last, other.last),
});

function joinTwo(one: PageReadings, other: PageReadings, endsOf: Ends): PageReadings {
  const series: { [K in PageMetric]?: Record<string, ReadingSeries> } = {};
  for (const metric of PAGE_METRICS) {
    const parts = [one, other].flatMap((tally) => Object.entries(tally.series[metric] ?? {}));
    for (const [uuid, part] of parts) {
      series[metric] ??= {};
      const before = series[metric][uuid];
      series[metric][uuid] = before === undefined ? part : { ...joinSeries(before, part), ...endsOf(before, part) };
    }
  }
  return { count: one.count + other.count, series };
}

function joinSeries(one: ReadingSeries, other: ReadingSeries): Omit<ReadingSeries, "first" | "last"> {
  const count = one.count + other.count;
  return {
    count,
    mean: (one.mean * one.count + other.mean * other.count) / count,
    max: Math.max(one.max, other.max),
  };
}
