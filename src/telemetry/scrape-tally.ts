import { nsToMs, nsToSec } from "../plan/units.ts";
import { toEpochNs } from "../runtime/clock.ts";
import { Exposition, type Family, type SampleKey } from "./exposition.ts";
import type { HistogramBucket } from "./histogram-estimate.ts";
import { Readings } from "./readings.ts";
import type { ScrapedEndpoint, ScrapedFamily, ScrapedSeries } from "./scrape-result.ts";

const MOST_SERIES = 5000;
/** A sample that most libraries for metrics add. It differs after a restart of the server's process. */
const PROCESS_START = /^process_start_time_seconds(?:\{.*\})?[ \t]+(\S+)/gm;
/** Some libraries read the start again each time, and it moves with the clock of the host. */
const CLOCK_STEP_SEC = 2;
/** Maximum number of dropped series to count. */
const MOST_LEFT_OUT = 50_000;

/** The state of one series. Counters and histogram parts have an increase; gauges and counters have readings. */
class SampleState {
  increase = 0;
  last: number | undefined;
  readings: Readings | undefined;

  restart(): void {
    this.increase = 0;
    this.readings = undefined;
  }
}

/** Combines the scrapes of one server. */
export class ScrapeTally {
  private readonly exposition = new Exposition();
  private states = new Map<SampleKey, SampleState>();
  private readonly leftOut = new Set<SampleKey>();
  private hasBaseline = false;
  /** Latest start of the server's process. NaN: unknown. */
  private processStartSec = Number.NaN;
  private startNs = 0;
  /** Time from which counters are counted. */
  private countedNs = 0;
  private firstNs = 0;
  private lastNs = 0;
  private scrapeCount = 0;
  private fetchNs = 0;

  /**
   * Begins the measured time. Earlier scrapes only serve as the baseline of counters.
   * @param keepsBaseline whether no request was sent since the last scrape, so that counters may start from it
   */
  begin(startNs: number, keepsBaseline: boolean): void {
    this.startNs = startNs;
    // The counts before the start, when nothing was sent, do not belong to the run.
    this.countedNs = startNs;
    this.scrapeCount = 0;
    this.fetchNs = 0;
    this.firstNs = 0;
    this.lastNs = 0;
    this.hasBaseline = keepsBaseline && this.hasBaseline;
    for (const state of this.states.values()) state.restart();
  }

  /** Adds a scrape. @param atNs time of the request @param tookNs time until the response */
  add(text: string, atNs: number, tookNs: number): void {
    const { hasBaseline } = this;
    if (!hasBaseline) this.countedNs = atNs;
    this.noteProcess(text);
    this.exposition.read(text, (key, value) => this.addSample(key, value, nsToSec(atNs - this.startNs), hasBaseline));
    this.hasBaseline = true;
    if (this.scrapeCount === 0) this.firstNs = atNs;
    this.lastNs = atNs;
    this.scrapeCount++;
    this.fetchNs += tookNs;
  }

  /** Whether no scrape has contained a sample. */
  get isEmpty(): boolean {
    return this.states.size === 0;
  }

  result(url: string, failedCount: number, failure: string | undefined): ScrapedEndpoint {
    const has = this.scrapeCount > 0;
    return {
      url,
      scrapeCount: this.scrapeCount,
      failedCount,
      failure,
      firstEpochNs: has ? toEpochNs(this.firstNs) : 0n,
      lastEpochNs: has ? toEpochNs(this.lastNs) : 0n,
      durationSec: has ? nsToSec(this.lastNs - this.countedNs) : 0,
      fetchMeanMs: nsToMs(this.fetchNs / this.scrapeCount),
      families: has ? toFamilies(this.states) : [],
      leftOutCount: this.leftOut.size,
    };
  }

  /**
   * After a restart of the server its counters start at 0, also those that exceed the earlier reading by now. Where an address has several
   * processes, their counters do not restart together.
   */
  private noteProcess(text: string): void {
    const [sample, other] = text.matchAll(PROCESS_START);
    const startSec = Number(sample?.[1]);
    if (Number.isNaN(startSec) || other !== undefined) return;
    if (startSec > this.processStartSec + CLOCK_STEP_SEC)
      for (const state of this.states.values()) if (state.last !== undefined) state.last = 0;
    // A load balancer may pass to and fro between processes.
    this.processStartSec = Math.max(this.processStartSec || startSec, startSec);
  }

  private addSample(key: SampleKey, value: number, timeSec: number, hasBaseline: boolean): void {
    const state = this.stateOf(key);
    if (state === undefined) return;
    const { kind } = key.family;
    if (kind === "counter" || isPart(key)) {
      if (!Number.isFinite(value)) return;
      // A new series starts at 0. A counter that has decreased was reset.
      const from = state.last ?? (hasBaseline ? 0 : value);
      if (hasBaseline) state.increase += value >= from ? value - from : value;
      state.last = value;
      if (kind !== "counter") return;
    }
    state.readings ??= new Readings();
    state.readings.add(timeSec, value);
  }

  private stateOf(key: SampleKey): SampleState | undefined {
    const known = this.states.get(key);
    if (known !== undefined) return known;
    if (this.states.size >= MOST_SERIES) {
      if (this.leftOut.size < MOST_LEFT_OUT) this.leftOut.add(key);
      return undefined;
    }
    const made = new SampleState();
    this.states.set(key, made);
    return made;
  }
}

/** Whether a series is part of a histogram or summary that only increases. */
function isPart({ family, name }: SampleKey): boolean {
  return (family.kind === "histogram" || family.kind === "summary") && name !== family.name;
}

type States = ReadonlyMap<SampleKey, SampleState>;

function toFamilies(states: States): ScrapedFamily[] {
  const families = new Map<Family, [SampleKey, SampleState][]>();
  for (const entry of states) {
    const members = families.get(entry[0].family);
    if (members === undefined) families.set(entry[0].family, [entry]);
    else members.push(entry);
  }
  return [...families].map(([family, members]) => toFamily(family, members)).filter(({ series }) => series.length > 0);
}

function toFamily(family: Family, members: readonly [SampleKey, SampleState][]): ScrapedFamily {
  const { help } = family;
  const name = family.kind === "counter" ? family.name.replace(/_total$/, "") : family.name;
  const kind = family.kind === "counter" || family.kind === "histogram" ? family.kind : "gauge";
  const series =
    kind === "histogram" ? toHistograms(members) : members.flatMap(([key, state]) => toSeries(kind, key, state));
  return { name, kind, help, unit: unitOf(name), series };
}

function toSeries(kind: "gauge" | "counter", { labels }: SampleKey, state: SampleState): ScrapedSeries[] {
  const readings = state.readings?.view();
  if (readings === undefined) return [];
  return [kind === "gauge" ? { kind, labels, readings } : { kind, labels, increase: state.increase, readings }];
}

/** Joins the parts of each histogram: series whose labels differ only in the bucket's bound. */
function toHistograms(members: readonly [SampleKey, SampleState][]): ScrapedSeries[] {
  const histograms = new Map<
    string,
    { labels: Map<string, string>; count: number; sum: number; atMost: [number, number][] }
  >();
  for (const [{ name, labels }, { increase }] of members) {
    const bare = new Map([...labels].filter(([label]) => label !== "le"));
    const id = JSON.stringify([...bare]);
    const histogram = histograms.get(id) ?? { labels: bare, count: 0, sum: 0, atMost: [] };
    histograms.set(id, histogram);
    if (name.endsWith("_bucket")) histogram.atMost.push([readBound(labels.get("le") ?? ""), increase]);
    else if (name.endsWith("_sum")) histogram.sum = increase;
    else histogram.count = increase;
  }
  return [...histograms.values()].map(({ labels, count, sum, atMost }) => ({
    kind: "histogram",
    labels,
    count,
    sum,
    buckets: toBuckets(atMost),
  }));
}

/** Converts cumulative bucket counts to counts per bucket. */
function toBuckets(atMost: readonly [bound: number, count: number][]): HistogramBucket[] {
  let before = 0;
  return atMost
    .filter(([bound]) => !Number.isNaN(bound))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([upperBound, count]) => {
      const inBucket = Math.max(0, count - before);
      before = Math.max(before, count);
      return { upperBound, count: inBucket };
    });
}

function readBound(le: string): number {
  return le === "+Inf" ? Number.POSITIVE_INFINITY : le === "" ? Number.NaN : Number(le);
}

const UNITS: readonly (readonly [RegExp, string])[] = [
  [/tokens_(?:per_second|seconds)$|gen_throughput$/, "tokens/s"],
  [/_seconds$/, "seconds"],
  [/_milliseconds$|_ms$/, "ms"],
  [/^nv_.*_duration$|_us$/, "us"],
  [/_bytes$/, "bytes"],
  [/_tokens$|:tokens_predicted$|:prompt_tokens_cached$/, "tokens"],
  [/_ratio$|_usage_perc$|_utilization$|:token_usage$|_cache_util$|hit_rate$/, "ratio"],
  [/_joules$/, "J"],
  [/_watts$/, "W"],
];

/** Returns the unit in a metric's name; empty if it contains none. */
function unitOf(name: string): string {
  return UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? "";
}
