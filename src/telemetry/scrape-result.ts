import type { HistogramBucket } from "./histogram-estimate.ts";
import type { ReadingsView } from "./readings.ts";

/** What was read of servers' metrics while a run measured. */

/** One series of a family. */
export type ScrapedSeries = { readonly labels: ReadonlyMap<string, string> } & (
  | { readonly kind: "gauge"; readonly readings: ReadingsView }
  /** `increase` over the measured time; a restart of the server, which counts from 0 again, is seen. */
  | { readonly kind: "counter"; readonly increase: number; readonly readings: ReadingsView }
  /** What was observed in the measured time. */
  | {
      readonly kind: "histogram";
      readonly count: number;
      readonly sum: number;
      readonly buckets: readonly HistogramBucket[];
    }
);

/** A family with its series. */
export interface ScrapedFamily {
  /** As AIPerf names it: a counter's without `_total`. */
  readonly name: string;
  readonly kind: ScrapedSeries["kind"];
  readonly help: string;
  /** Such as `seconds` or `tokens`; empty where the name does not tell. */
  readonly unit: string;
  readonly series: readonly ScrapedSeries[];
}

/** What one address gave. */
export interface ScrapedEndpoint {
  readonly url: string;
  /** Readings in the measured time. */
  readonly scrapeCount: number;
  readonly failedCount: number;
  /** Why the first failed reading failed; undefined when none did. */
  readonly failure: string | undefined;
  /** Epoch nanoseconds of the first and the last reading; 0 without any. */
  readonly firstEpochNs: bigint;
  readonly lastEpochNs: bigint;
  /** From the reading that counters are counted from to the last one. */
  readonly durationSec: number;
  /** How long a reading took on average; NaN without any. */
  readonly fetchMeanMs: number;
  readonly families: readonly ScrapedFamily[];
  /** Series beyond the most that are kept. */
  readonly leftOutCount: number;
}

/** All of a run, in the order in which the addresses were given. */
export interface ScrapeResult {
  readonly endpoints: readonly ScrapedEndpoint[];
}
