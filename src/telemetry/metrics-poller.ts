import {
  addReading,
  NO_READINGS,
  type PageMetric,
  type PageReading,
  type PageReadings,
} from "../measure/page-readings.ts";
import { messageOf } from "../plan/problem.ts";
import { nsToMs } from "../plan/units.ts";
import { type Cancel, type Clock, systemClock } from "../runtime/clock.ts";
import { Exposition, type SampleKey } from "./exposition.ts";

/** A warning about GPU metrics. Each kind is reported once. */
export type MetricsWarning =
  | { readonly kind: "metrics-unreachable"; readonly url: string; readonly reason: string }
  /** The server lacks a family that perf_analyzer reports. */
  | { readonly kind: "metrics-missing"; readonly family: string }
  | { readonly kind: "metrics-slow"; readonly tookMs: number; readonly intervalMs: number };

/** Settings of a poller. */
export interface MetricsPollerOptions {
  readonly url: string;
  readonly intervalMs: number;
  /** Whether a page of an engine, which has the use of its cache and no GPU, lacks something. Default: false */
  readonly needsGpus?: boolean;
  /** Fetches the metrics as text; rejects with the reason for a failure. Called again only after it has settled. */
  fetch(): Promise<string>;
  warn(warning: MetricsWarning): void;
  /** Receives each reading. */
  onReading?(reading: PageReading): void;
  /** Default: this thread's. */
  readonly clock?: Clock;
}

/**
 * Scrapes GPU metrics periodically, one request at a time, and returns them per window. Nothing waits for a scrape: one that is in flight
 * when a window ends counts for the next window.
 */
export class MetricsPoller {
  private readonly options: MetricsPollerOptions;
  private readonly exposition = new Exposition();
  private tally: PageReadings = NO_READINGS;
  private readonly clock: Clock;
  private cancelTimer: Cancel | undefined;
  private isRunning = false;
  /** Number of starts and stops, to drop scrapes that began before the latest. */
  private generation = 0;
  private isFetching = false;
  private readonly warnedKinds = new Set<MetricsWarning["kind"]>();

  constructor(options: MetricsPollerOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
  }

  /** Starts scraping, at once and then at the interval. Drops earlier readings. */
  start(): void {
    this.stop();
    this.isRunning = true;
    this.tally = NO_READINGS;
    // A scrape in flight starts the next one when it ends.
    if (!this.isFetching) void this.poll();
  }

  /** Returns the readings since the start or the last call. */
  take(): PageReadings {
    const { tally } = this;
    this.tally = NO_READINGS;
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
    const outcome = await this.fetch();
    if (!this.isRunning) return;
    if (generation !== this.generation) {
      void this.poll();
      return;
    }
    const { intervalMs } = this.options;
    const tookMs = nsToMs(clock.nowNs() - startNs);
    this.cancelTimer = clock.after(Math.max(0, intervalMs - tookMs), () => void this.poll());
    this.add(outcome);
    if (typeof outcome === "string" && tookMs > intervalMs)
      this.warn([{ kind: "metrics-slow", tookMs: Math.floor(tookMs), intervalMs }]);
  }

  /** Returns the metrics as text, or the error. */
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
    const reading = readGpuMetrics(outcome, this.exposition);
    this.tally = addReading(this.tally, reading);
    this.options.onReading?.(reading);
    const missing: MetricsWarning[] = [];
    for (const family of missingFamilies(reading, this.options.needsGpus === true))
      missing.push({ kind: "metrics-missing", family });
    this.warn(missing);
  }

  /** Reports warnings of one kind, unless that kind has been reported. */
  private warn(warnings: readonly MetricsWarning[]): void {
    const kind = warnings[0]?.kind;
    if (kind === undefined || this.warnedKinds.has(kind)) return;
    this.warnedKinds.add(kind);
    for (const warning of warnings) this.options.warn(warning);
  }
}

interface Family {
  readonly metric: PageMetric;
  /** Whether perf_analyzer reports the metric, so that a missing one needs a warning. */
  readonly isReported: boolean;
}

const FAMILIES: ReadonlyMap<string, Family> = new Map([
  ["nv_gpu_utilization", { metric: "utilizationRatio", isReported: true }],
  ["nv_gpu_power_usage", { metric: "powerWatts", isReported: true }],
  ["nv_gpu_power_limit", { metric: "powerLimitWatts", isReported: false }],
  ["nv_energy_consumption", { metric: "energyJoules", isReported: false }],
  ["nv_gpu_memory_used_bytes", { metric: "memoryUsedBytes", isReported: true }],
  ["nv_gpu_memory_total_bytes", { metric: "memoryTotalBytes", isReported: true }],
]);

/** Use of the KV cache, 0 to 1: of vLLM, of its older versions, of SGLang, and of TensorRT-LLM on Triton. */
const KV_CACHE_NAMES: ReadonlySet<string> = new Set([
  "vllm:kv_cache_usage_perc",
  "vllm:gpu_cache_usage_perc",
  "sglang:token_usage",
  "nv_trt_llm_kv_cache_block_metrics",
]);
/** TensorRT-LLM has numbers of blocks under the same name. */
const BLOCK_TYPE = "kv_cache_block_type";

/** Returns what a sample is of, and whose: of Triton's GPUs, or of the KV cache of an engine. Undefined for other samples. */
function identify({ name, labels }: SampleKey): readonly [metric: PageMetric, id: string] | undefined {
  const family = FAMILIES.get(name);
  const uuid = labels.get("gpu_uuid");
  if (family !== undefined && uuid !== undefined) return [family.metric, uuid];
  if (!KV_CACHE_NAMES.has(name) || (labels.get(BLOCK_TYPE) ?? "fraction") !== "fraction") return undefined;
  return ["kvCacheRatio", [...labels.values()].join(" ")];
}

/** Parses Triton's GPU metrics, by UUID of the GPU, and the use of KV caches. Omits samples without UUID or finite value. @param exposition of the same server's earlier texts, which makes it cheap */
export function readGpuMetrics(text: string, exposition = new Exposition()): PageReading {
  const reading: { [K in PageMetric]?: Map<string, number> } = {};
  exposition.read(text, (key, value) => {
    const [metric, id] = identify(key) ?? [];
    if (metric === undefined || id === undefined || !Number.isFinite(value)) return;
    const byId = reading[metric] ?? new Map<string, number>();
    byId.set(id, value);
    reading[metric] = byId;
  });
  return reading;
}

/** Returns the names of reported families that are missing in a reading. @param needsGpus false: none for the page of an engine, which has no GPUs */
export function missingFamilies(reading: PageReading, needsGpus: boolean): string[] {
  if (!needsGpus && Object.keys(reading).join() === "kvCacheRatio") return [];
  const missing: string[] = [];
  for (const [name, { metric, isReported }] of FAMILIES)
    if (isReported && reading[metric] === undefined) missing.push(name);
  return missing;
}
