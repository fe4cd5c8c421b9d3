import { messageOf } from "../plan/problem.ts";
import { nsToMs } from "../plan/units.ts";
import { nowNs } from "../runtime/clock.ts";
import type { ScrapedEndpoint } from "./scrape-result.ts";
import { ScrapeTally } from "./scrape-tally.ts";

/** Settings for scraping one address. */
export interface ScraperOptions {
  readonly url: string;
  readonly intervalMs: number;
  /** Fetches the metrics as text; rejects with the reason for a failure. Not called again until it has settled. */
  fetch(): Promise<string>;
  /** Called for the first failure only. @param isFirst whether no scrape had succeeded before */
  onFailure(reason: string, isFirst: boolean): void;
}

/** Scrapes the metrics of one server before the run, at its start, at the interval, and at its end. The run does not wait between. */
export class Scraper {
  private readonly options: ScraperOptions;
  private readonly tally = new ScrapeTally();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private inFlight: Promise<void> | undefined;
  private isRunning = false;
  private failedCount = 0;
  private failure: string | undefined;

  constructor(options: ScraperOptions) {
    this.options = options;
  }

  /** Scrapes once before the run. Returns whether there are metrics. */
  async probe(): Promise<boolean> {
    await this.readOnce();
    if (this.failure === undefined && this.tally.isEmpty)
      this.fail("the response contains no metrics in Prometheus' text format");
    return this.failure === undefined;
  }

  /** Begins the measured time. @param isAfterWarmup whether requests were sent since the probe */
  begin(isAfterWarmup: boolean): void {
    this.tally.begin(nowNs(), !isAfterWarmup);
    this.isRunning = true;
    void this.tick();
  }

  /** Ends the measured time with a last scrape. */
  async finish(): Promise<ScrapedEndpoint> {
    const wasRunning = this.isRunning;
    this.stop();
    await this.inFlight;
    if (wasRunning) await this.readOnce();
    return this.tally.result(this.options.url, this.failedCount, this.failure);
  }

  stop(): void {
    this.isRunning = false;
    clearTimeout(this.timer);
  }

  private async tick(): Promise<void> {
    const startNs = nowNs();
    this.inFlight = this.readOnce();
    await this.inFlight;
    if (!this.isRunning) return;
    const restMs = this.options.intervalMs - nsToMs(nowNs() - startNs);
    this.timer = setTimeout(() => void this.tick(), Math.max(0, restMs));
  }

  private async readOnce(): Promise<void> {
    const startNs = nowNs();
    try {
      const text = await this.options.fetch();
      this.tally.add(text, startNs, nowNs() - startNs);
    } catch (error) {
      this.fail(messageOf(error));
    }
  }

  private fail(reason: string): void {
    this.failedCount++;
    if (this.failure !== undefined) return;
    this.failure = reason;
    this.options.onFailure(reason, this.tally.isEmpty);
  }
}
