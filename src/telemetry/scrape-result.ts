import type { HistogramBucket } from "./histogram-estimate.ts";
import type { ReadingsView } from "./readings.ts";

/** One series of a family. */
export type ScrapedSeries = { readonly labels: ReadonlyMap<string, string> } & (
  | { readonly kind: "gauge"; readonly readings: ReadingsView }
  /** `increase` is over the measured time, including after a restart of the server, which resets the counter to 0. */
  | { readonly kind: "counter"; readonly increase: number; readonly readings: ReadingsView }
  /** Observations in the measured time. */
  | {
      readonly kind: "histogram";
      readonly count: number;
      readonly sum: number;
      readonly buckets: readonly HistogramBucket[];
    }
);

/** A family with its series. */
export interface ScrapedFamily {
  /** Name like in AIPerf: counters have no `_total`. */
  readonly name: string;
  readonly kind: ScrapedSeries["kind"];
  readonly help: string;
  /** For example `seconds` or `tokens`; empty if the name does not contain it. */
  readonly unit: string;
  readonly series: readonly ScrapedSeries[];
}

/** The metrics of one address. */
export interface ScrapedEndpoint {
  readonly url: string;
  /** Number of scrapes in the measured time. */
  readonly scrapeCount: number;
  readonly failedCount: number;
  /** Reason of the first failure; undefined without failures. */
  readonly failure: string | undefined;
  /** Epoch nanoseconds of the first and last scrape; 0 if there were none. */
  readonly firstEpochNs: bigint;
  readonly lastEpochNs: bigint;
  /** Seconds in which counters were counted: from the start, or after a warm-up from the first scrape, to the last scrape. */
  readonly durationSec: number;
  /** Mean duration of a scrape; NaN if there were none. */
  readonly fetchMeanMs: number;
  readonly families: readonly ScrapedFamily[];
  /** Number of series above the maximum, which were dropped. */
  readonly leftOutCount: number;
}

/** The metrics scraped during a run, in the order of the addresses. */
export interface ScrapeResult {
  readonly endpoints: readonly ScrapedEndpoint[];
}
