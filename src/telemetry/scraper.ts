import { messageOf } from "../plan/problem.ts";
import { nowNs } from "../runtime/clock.ts";
import type { ScrapedEndpoint } from "./scrape-result.ts";
import { ScrapeTally } from "./scrape-tally.ts";

/** One address to read. */
export interface ScraperOptions {
  readonly url: string;
  readonly intervalMs: number;
  /** Fetches the metrics' text; rejects with the reason why it cannot be had. */
  fetch(): Promise<string>;
  /** Told once, of the first reading that failed. @param isFirst whether nothing could be read before */
  onFailure(reason: string, isFirst: boolean): void;
}

/**
 * Reads the metrics of one server while a run measures: once ahead of it, which says whether the server can be read at all, then at its
 * beginning, at the interval, and at its end. Nothing of the run waits for it in between.
 */
export class Scraper {
  private readonly options: ScraperOptions;
  private readonly tally = new ScrapeTally();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private underWay: Promise<void> | undefined;
  private isRunning = false;
  private failedCount = 0;
  private failure: string | undefined;

  constructor(options: ScraperOptions) {
    this.options = options;
  }

  /** Reads once, ahead of the run. Resolves with whether there are metrics. */
  async probe(): Promise<boolean> {
    await this.readOnce();
    if (this.failure === undefined && this.tally.isEmpty)
      this.fail("there is nothing in it in Prometheus' text format");
    return this.failure === undefined;
  }

  /** The measured time begins. @param isAfterWarmup whether requests were sent since the probe */
  begin(isAfterWarmup: boolean): void {
    this.tally.begin(nowNs(), !isAfterWarmup);
    this.isRunning = true;
    void this.tick();
  }

  /** The measured time is over: reads once more. */
  async finish(): Promise<ScrapedEndpoint> {
    const wasRunning = this.isRunning;
    this.stop();
    await this.underWay;
    if (wasRunning) await this.readOnce();
    return this.tally.result(this.options.url, this.failedCount, this.failure);
  }

  /** Reads no more. */
  stop(): void {
    this.isRunning = false;
    clearTimeout(this.timer);
  }

  private async tick(): Promise<void> {
    const startNs = nowNs();
    this.underWay = this.readOnce();
    await this.underWay;
    if (!this.isRunning) return;
    const restMs = this.options.intervalMs - (nowNs() - startNs) / 1e6;
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
