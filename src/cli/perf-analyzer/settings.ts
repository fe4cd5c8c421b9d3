import type { ComposingModelPlan, RequestParameterPlan, TlsPlan } from "../../plan/plan.ts";
import type { SequencesPlan } from "../../plan/sequences.ts";
import type { TracePlan } from "../../plan/telemetry.ts";
import type { RangeValue } from "./values.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What a command line says, value by value, with perf_analyzer's defaults. */
export interface Settings {
  model: string;
  modelVersion: string;
  serviceKind: "triton" | "openai";
  /** The path that payloads go to; empty: not given. */
  endpoint: string;
  verbosity: 0 | 1 | 2;
  isAsync: boolean;
  isSync: boolean;
  isStreaming: boolean;
  concurrency: RangeValue | undefined;
  /** Whether `--concurrency-range` gave it, wholly or in part. */
  hasConcurrencyRange: boolean;
  requestRate: RangeValue | undefined;
  intervalsFile: string | undefined;
  distribution: "constant" | "poisson";
  isFixedSchedule: boolean;
  periodic: { start: number; end: number; step: number } | undefined;
  periodResponses: number | undefined;
  sessionConcurrency: number | undefined;
  /** What the flags of sequences say. */
  sequences: { -readonly [K in keyof SequencesPlan]?: SequencesPlan[K] | undefined };
  windowMs: number;
  measurementMode: "time_windows" | "count_windows";
  requestsPerWindow: number;
  requestCount: number | undefined;
  warmupRequests: number;
  stabilityPct: number;
  maxTrials: number;
  percentile: number | null;
  latencyLimitMs: number | null;
  isBinarySearch: boolean;
  maxThreads: number | undefined;
  batchSize: number;
  /** `zero`, or paths; empty: random. */
  inputData: string[];
  shapes: Record<string, number[]>;
  parameters: Record<string, RequestParameterPlan>;
  /** Undefined when nothing was said of it. */
  compression: "none" | "gzip" | "deflate" | undefined;
  composingModels: ComposingModelPlan[];
  stringLength: number;
  stringData: string;
  inputTensorFormat: "binary" | "json";
  outputTensorFormat: "binary" | "json";
  sharedMemory: "none" | "system" | "cuda";
  outputSharedMemoryBytes: number | undefined;
  url: string | undefined;
  protocol: "http" | "grpc" | undefined;
  headers: [name: string, value: string][];
  /** What the `--ssl-grpc-…` flags say, and the `--ssl-https-…` flags. */
  sslGrpc: Mutable<Partial<TlsPlan>>;
  sslHttps: Mutable<Partial<TlsPlan>>;
  isCollectingMetrics: boolean;
  metricsUrl: string | undefined;
  metricsIntervalMs: number | undefined;
  /** What the flags of traces say. */
  trace: Mutable<Partial<TracePlan>>;
  csvFile: string;
  jsonFile: string;
  isVerboseCsv: boolean;
  profileExportFile: string;
  client: "own" | "undici" | "grpc-js";
  stallTimeoutMs: number;
  /** Undefined: no limit. */
  requestTimeoutMs: number | undefined;
  /** Undefined: the default of plans. */
  maxResponseBytes: number | undefined;
  isMpi: boolean;
  maxFailureRatio: number;
  isDryRun: boolean;
  isHelp: boolean;
  isVersion: boolean;
}
