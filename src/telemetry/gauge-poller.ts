import { addReading, type GaugeReading, type GaugeReadings, NO_READINGS } from "../measure/gauge-readings.ts";
import { GAUGE_KEYS, type Gauge, gaugeSourceOf } from "../measure/metrics/server-gauges.ts";
import { messageOf } from "../plan/problem.ts";
import { formatDurationNs, msToNs, nsToMs } from "../plan/units.ts";
import { type Cancel, type Clock, systemClock } from "../runtime/clock.ts";
import { Exposition, type SampleKey } from "./exposition.ts";
import type { ScraperOptions } from "./scraper.ts";

/** A warning about the server's metrics page. Each kind is reported once. */
export type GaugeWarning =
  | { readonly kind: "metrics-unreachable"; readonly url: string; readonly reason: string }
  /** The server lacks a family that perf_analyzer reports. */
  | { readonly kind: "metrics-missing"; readonly family: string }
  | { readonly kind: "metrics-slow"; readonly tookMs: number; readonly intervalMs: number };

/** Settings of a poller. */
export interface GaugePollerOptions extends Pick<ScraperOptions, "url" | "intervalMs" | "fetch"> {
  /** Whether GPU metrics are required on the page of an engine that reports only the use of its cache. Default: false */
  readonly needsGpus?: boolean;
  warn(warning: GaugeWarning): void;
  onReading?(reading: GaugeReading): void;
  /** Default: this thread's clock. */
  readonly clock?: Clock;
}

/**
 * Scrapes the gauges of GPUs and KV caches periodically, one request at a time, and returns them per window. Nothing waits for a scrape: a
 * scrape in flight at the end of a window counts for the next window.
 */
export class GaugePoller {
  private readonly options: GaugePollerOptions;
  private readonly exposition = new Exposition();
  private tally: GaugeReadings = NO_READINGS;
  private readonly clock: Clock;
  private cancelTimer: Cancel | undefined;
  private isRunning = false;
  /** Number of starts and stops, used to drop scrapes that began before the latest one. */
  private generation = 0;
  /** Start of the scrape in flight; undefined if there is none. */
  private fetchStartNs: number | undefined;
  private readonly warnedKinds = new Set<GaugeWarning["kind"]>();

  constructor(options: GaugePollerOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
  }

  /** Starts scraping, immediately and then at the interval. Drops earlier readings. */
  start(): void {
    this.stop();
    this.isRunning = true;
    this.tally = NO_READINGS;
    // A scrape in flight starts the next one when it ends.
    if (this.fetchStartNs === undefined) void this.poll();
  }

  /** Returns the readings since the start or the last call. Warns if there are none because the server does not respond. */
  take(): GaugeReadings {
    const { tally, fetchStartNs } = this;
    const { url, intervalMs } = this.options;
    this.tally = NO_READINGS;
    const waitedMs = fetchStartNs === undefined ? 0 : nsToMs(this.clock.nowNs() - fetchStartNs);
    if (tally.count === 0 && waitedMs > intervalMs) {
      const reason = `no response within ${formatDurationNs(msToNs(waitedMs))}`;
      this.warn([{ kind: "metrics-unreachable", url, reason }]);
    }
    return tally;
  }

  /** Stops scraping and drops a scrape in flight. */
  stop(): void {
    this.isRunning = false;
    this.generation++;
    this.cancelTimer?.();
  }

  private async poll(): Promise<void> {
    const { generation, clock } = this;
    const startNs = clock.nowNs();
    const outcome = await this.fetch(startNs);
    if (!this.isRunning) return;
    if (generation !== this.generation) {
      void this.poll();
      return;
    }
    const { intervalMs } = this.options;
    const tookMs = nsToMs(clock.nowNs() - startNs);
    this.cancelTimer = clock.after(Math.max(0, intervalMs - tookMs), () => void this.poll());
    this.add(outcome, startNs);
    if (typeof outcome === "string" && tookMs > intervalMs)
      this.warn([{ kind: "metrics-slow", tookMs: Math.floor(tookMs), intervalMs }]);
  }

  /** Returns the metrics as text, or the error. */
  private async fetch(startNs: number): Promise<string | Error> {
    this.fetchStartNs = startNs;
    try {
      return await this.options.fetch();
    } catch (error) {
      return error instanceof Error ? error : new Error(messageOf(error));
    } finally {
      this.fetchStartNs = undefined;
    }
  }

  /** @param atNs time of the query */
  private add(outcome: string | Error, atNs: number): void {
    if (typeof outcome !== "string") {
      this.warn([{ kind: "metrics-unreachable", url: this.options.url, reason: outcome.message }]);
      return;
    }
    const reading = readGauges(outcome, this.exposition);
    this.tally = addReading(this.tally, reading, atNs);
    this.options.onReading?.(reading);
    const missing: GaugeWarning[] = [];
    for (const family of missingFamilies(reading, this.options.needsGpus === true))
      missing.push({ kind: "metrics-missing", family });
    this.warn(missing);
  }

  /** Reports warnings of one kind, unless that kind was reported before. */
  private warn(warnings: readonly GaugeWarning[]): void {
    const kind = warnings[0]?.kind;
    if (kind === undefined || this.warnedKinds.has(kind)) return;
    this.warnedKinds.add(kind);
    for (const warning of warnings) this.options.warn(warning);
  }
}

const GAUGE_OF_FAMILY: ReadonlyMap<string, Gauge> = new Map(
  GAUGE_KEYS.flatMap((gauge) => gaugeSourceOf(gauge).families.map((name) => [name, gauge] as const)),
);

/** Returns a sample's gauge, and the id of one of Triton's GPUs or of an engine. Undefined for other samples. */
function identify({ name, labels }: SampleKey): readonly [gauge: Gauge, id: string] | undefined {
  const gauge = GAUGE_OF_FAMILY.get(name);
  if (gauge === undefined) return undefined;
  const source = gaugeSourceOf(gauge);
  const isOther = Object.entries(source.labels ?? {}).some(([label, value]) => (labels.get(label) ?? value) !== value);
  const id = source.of === "gpu" ? labels.get("gpu_uuid") : [...labels.values()].join(" ");
  return isOther || id === undefined ? undefined : [gauge, id];
}

/**
 * Parses the gauges on a page, by UUID of the GPU or name of the engine. Omits samples without UUID or finite value. @param exposition
 * parser of the same server's earlier texts, which makes parsing cheap
 */
export function readGauges(text: string, exposition = new Exposition()): GaugeReading {
  const reading: Record<string, Map<string, number>> = {};
  exposition.read(text, (key, value) => {
    const [gauge, id] = identify(key) ?? [];
    if (gauge === undefined || id === undefined || !Number.isFinite(value)) return;
    const byId = reading[gauge] ?? new Map<string, number>();
    reading[gauge] = byId.set(id, value);
  });
  return reading;
}

/** Returns the reported families that a reading lacks. @param needsGpus false: GPU families are not required of an engine */
export function missingFamilies(reading: GaugeReading, needsGpus: boolean): string[] {
  const found = GAUGE_KEYS.filter((gauge) => reading[gauge] !== undefined).map(gaugeSourceOf);
  if (!needsGpus && found.length > 0 && found.every((source) => source.of === "engine")) return [];
  return GAUGE_KEYS.filter((gauge) => reading[gauge] === undefined)
    .map(gaugeSourceOf)
    .flatMap(({ isReported = false, families }) => (isReported ? families : []));
}
