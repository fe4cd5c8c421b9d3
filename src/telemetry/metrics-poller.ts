import { GpuTally } from "../measure/gpu-tally.ts";
import { messageOf } from "../plan/problem.ts";
import { type Cancel, type Clock, systemClock } from "../runtime/clock.ts";
import { missingFamilies, readGpuMetrics } from "./gpu-metrics.ts";

/** Something about the metrics that the user should know; each kind is told once. */
export type MetricsWarning =
  | { readonly kind: "metrics-unreachable"; readonly url: string; readonly reason: string }
  /** A family that perf_analyzer reports is not among the server's metrics. */
  | { readonly kind: "metrics-missing"; readonly family: string }
  | { readonly kind: "metrics-slow"; readonly tookMs: number; readonly intervalMs: number };

/** What a poller needs. */
export interface MetricsPollerOptions {
  readonly url: string;
  readonly intervalMs: number;
  /** Fetches the metrics' text; rejects with the reason why it cannot be had. Never called again before it has settled. */
  fetch(): Promise<string>;
  warn(warning: MetricsWarning): void;
  /** Default: this thread's. */
  readonly clock?: Clock;
}

/**
 * Reads metrics again and again, one reading at a time, and hands them out window by window. Nothing waits for it: what is not there when
 * a window ends belongs to the next one.
 */
export class MetricsPoller {
  private readonly options: MetricsPollerOptions;
  private tally = new GpuTally();
  private readonly clock: Clock;
  private cancelTimer: Cancel | undefined;
  private isRunning = false;
  /** Counts starts and stops, so that what was asked before the latest is left out. */
  private generation = 0;
  private isFetching = false;
  private readonly told = new Set<MetricsWarning["kind"]>();

  constructor(options: MetricsPollerOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
  }

  /** Begins to read, at once and then at the interval; what was read before is dropped. */
  start(): void {
    this.stop();
    this.isRunning = true;
    this.tally = new GpuTally();
    // One that is still under way from before begins the next when it is over.
    if (!this.isFetching) void this.poll();
  }

  /** What was read since the start or the last call. */
  take(): GpuTally {
    const { tally } = this;
    this.tally = new GpuTally();
    return tally;
  }

  /** Reads no more; what is under way is left out. */
  stop(): void {
    this.isRunning = false;
    this.generation++;
    this.cancelTimer?.();
  }

  private async poll(): Promise<void> {
    const { generation, clock } = this;
    const startNs = clock.nowNs();
    const outcome = await this.fetch();
    if (!this.isRunning) return;
    if (generation !== this.generation) {
      void this.poll();
      return;
    }
    const { intervalMs } = this.options;
    const tookMs = (clock.nowNs() - startNs) / 1e6;
    this.cancelTimer = clock.after(Math.max(0, intervalMs - tookMs), () => void this.poll());
    this.add(outcome);
    if (tookMs > intervalMs) this.warn([{ kind: "metrics-slow", tookMs: Math.floor(tookMs), intervalMs }]);
  }

  /** The metrics' text, or why there is none. */
  private async fetch(): Promise<string | Error> {
    this.isFetching = true;
    try {
      return await this.options.fetch();
    } catch (error) {
      return error instanceof Error ? error : new Error(messageOf(error));
    } finally {
      this.isFetching = false;
    }
  }

  private add(outcome: string | Error): void {
    if (typeof outcome !== "string") {
      this.warn([{ kind: "metrics-unreachable", url: this.options.url, reason: outcome.message }]);
      return;
    }
    const reading = readGpuMetrics(outcome);
    this.tally.add(reading);
    const missing: MetricsWarning[] = [];
    for (const family of missingFamilies(reading)) missing.push({ kind: "metrics-missing", family });
    this.warn(missing);
  }

  /** Tells warnings of one kind, unless there were some of it before. */
  private warn(warnings: readonly MetricsWarning[]): void {
    const kind = warnings[0]?.kind;
    if (kind === undefined || this.told.has(kind)) return;
    this.told.add(kind);
    for (const warning of warnings) this.options.warn(warning);
  }
}
