/** Readings of gauges on the server's metrics page; see `metrics/server-gauges.ts` for the gauges. */

/** One scrape: values by gauge and by GPU UUID or engine name. Gauges that the server does not report are absent. */
export type GaugeReading = Readonly<Record<string, ReadonlyMap<string, number>>>;

/** A summary of one gauge's readings on one GPU, or of one engine. */
export interface ReadingSeries {
  readonly count: number;
  /** Number of readings that differ from the previous one. */
  readonly changeCount: number;
  readonly mean: number;
  readonly max: number;
  readonly first: number;
  readonly last: number;
  /** Monotonic times of the first and last reading, in nanoseconds. */
  readonly firstNs: number;
  readonly lastNs: number;
}

/** The readings of a time span, combined in constant memory; plain data. */
export interface GaugeReadings {
  /** Number of readings, including those without a GPU. */
  readonly count: number;
  /** Series by gauge and by GPU UUID or engine name. */
  readonly series: Readonly<Record<string, Readonly<Record<string, ReadingSeries>>>>;
}

export const NO_READINGS: GaugeReadings = { count: 0, series: {} };

/** Adds a later reading. @param atNs monotonic time of the reading, in nanoseconds */
export function addReading(tally: GaugeReadings, reading: GaugeReading, atNs: number): GaugeReadings {
  const times = { firstNs: atNs, lastNs: atNs };
  const series = Object.entries(reading).map(([gauge, values]) => {
    const ofEach = [...values].map(
      ([id, value]) =>
        [id, { count: 1, changeCount: 0, mean: value, max: value, first: value, last: value, ...times }] as const,
    );
    return [gauge, Object.fromEntries(ofEach)] as const;
  });
  return joinTwo(tally, { count: 1, series: Object.fromEntries(series) }, followOn);
}

/** Joins the readings of several time spans; undefined without any. @param way `parallel`: they were read at the same time */
export function joinReadings(
  tallies: readonly (GaugeReadings | undefined)[],
  way: "in-time" | "parallel",
): GaugeReadings | undefined {
  const known = tallies.filter((tally) => tally !== undefined);
  const ends = way === "in-time" ? followOn : bothEnds;
  return known.length === 0 ? undefined : known.reduce((before, next) => joinTwo(before, next, ends));
}

/** Returns the series of a gauge by GPU UUID or engine name, sorted. */
export function seriesOf({ series }: GaugeReadings, gauge: string): [uuid: string, series: ReadingSeries][] {
  return Object.entries(series[gauge] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}

export function ofGpu({ count, series }: GaugeReadings, uuid: string): GaugeReadings {
  const ofDevice = Object.entries(series).flatMap(([gauge, byUuid]) => {
    const found = byUuid[uuid];
    return found === undefined ? [] : [[gauge, { [uuid]: found }] as const];
  });
  return { count, series: Object.fromEntries(ofDevice) };
}

/** Returns the first and the last value of two series, with their times, and the changes between them. */
type Ends = (one: ReadingSeries, other: ReadingSeries) => Omit<ReadingSeries, "count" | "mean" | "max">;

const followOn: Ends = (earlier, later) => ({
  changeCount: earlier.changeCount + later.changeCount + (earlier.last === later.first ? 0 : 1),
  first: earlier.first,
  last: later.last,
  firstNs: earlier.firstNs,
  lastNs: later.lastNs,
});
/** The order of the readings is unknown; counters only grow. */
const bothEnds: Ends = (one, other) => ({
  changeCount: Math.max(one.changeCount, other.changeCount),
  first: Math.min(one.first, other.first),
  last: Math.max(one.last, other.last),
  firstNs: Math.min(one.firstNs, other.firstNs),
  lastNs: Math.max(one.lastNs, other.lastNs),
});

function joinTwo(one: GaugeReadings, other: GaugeReadings, endsOf: Ends): GaugeReadings {
  const series: Record<string, Record<string, ReadingSeries>> = {};
  for (const [gauge, byId] of [one, other].flatMap((tally) => Object.entries(tally.series))) {
    const joined = series[gauge] ?? {};
    series[gauge] = joined;
    for (const [id, part] of Object.entries(byId)) {
      const before = joined[id];
      joined[id] = before === undefined ? part : { ...joinSeries(before, part), ...endsOf(before, part) };
    }
  }
  return { count: one.count + other.count, series };
}

function joinSeries(one: ReadingSeries, other: ReadingSeries): Pick<ReadingSeries, "count" | "mean" | "max"> {
  const count = one.count + other.count;
  return {
    count,
    mean: (one.mean * one.count + other.mean * other.count) / count,
    max: Math.max(one.max, other.max),
  };
}
