import type { LevelsPlan, LoadPlan } from "../../plan/load-plan.ts";
import type {
  InputsPlan,
  MeasurementModePlan,
  OpenAiTargetPlan,
  Plan,
  TlsPlan,
  TritonTargetPlan,
} from "../../plan/plan.ts";
import type { Problem } from "../../plan/problem.ts";
import { registerPlan } from "../../plan/secrets.ts";
import { DEFAULT_SEQUENCES, type SequencesPlan } from "../../plan/sequences.ts";
import { DEFAULT_METRICS_INTERVAL_MS, NO_TELEMETRY, NO_TRACE, type TelemetryPlan } from "../../plan/telemetry.ts";
import { DEFAULT_TLS } from "../../plan/tls.ts";
import { defaultMetricsUrl } from "../../telemetry/metrics-url.ts";
import { isDirectory } from "../output-files.ts";
import { checkTogether, isGiven } from "./rules.ts";
import type { Settings } from "./settings.ts";

/** From flags to a plan, with perf_analyzer's rules between flags. */

const DEFAULT_MAX_THREADS = 16;
const DEFAULT_RATE_THREADS = 4;
const DEFAULT_PERIOD_RESPONSES = 10;
const DEFAULT_OUTPUT_SHARED_MEMORY_BYTES = 102_400;
const POISSON_SEED = 5489; // that of C++'s default generator

/** A plan, or what is wrong, and what the user should know. */
export interface PlanFromFlags {
  readonly plan: Plan;
  readonly problems: readonly Problem[];
  /** Lines for stderr, worded as the original's where it has them. */
  readonly warnings: readonly string[];
}

/** Builds the plan. It may only be run when there are no problems. */
export function toPlan(settings: Settings): PlanFromFlags {
  const problems = checkTogether(settings);
  const warnings: string[] = [];
  const isAsync = settings.isAsync || settings.isStreaming;
  const load = toLoad(settings, isAsync, warnings);
  warnAlone(settings, warnings);
  const plan: Plan = {
    version: 1,
    name: settings.model,
    target: toTarget(settings, warnings),
    load,
    sequences: toSequences(settings),
    inputs: toInputs(settings, warnings),
    measurement: {
      mode: toMode(settings),
      // As in the original, which never warms up with sessions; the user is told.
      warmupRequests: settings.sessionConcurrency === undefined ? settings.warmupRequests : 0,
      percentile: settings.percentile,
      latencyLimitMs: settings.latencyLimitMs,
    },
    client: {
      kind: settings.client,
      callMode: isAsync ? "async" : settings.isSync ? "sync" : "auto",
      maxLanes: toMaxLanes(settings, load, isAsync),
      stallTimeoutMs: settings.stallTimeoutMs,
      ...(settings.requestTimeoutMs === undefined ? {} : { requestTimeoutMs: settings.requestTimeoutMs }),
      ...(settings.maxResponseBytes === undefined ? {} : { maxResponseBytes: settings.maxResponseBytes }),
      isMpi: settings.isMpi,
    },
    failures: { maxRatio: settings.maxFailureRatio },
    telemetry: toTelemetry(settings, warnings),
    assertions: [],
    outputs: {
      style: "perf_analyzer",
      verbosity: settings.verbosity,
      csvFile: settings.csvFile,
      isVerboseCsv: settings.isVerboseCsv,
      profileExportFile: settings.profileExportFile,
      jsonFile: settings.jsonFile,
    },
    behaviour: {
      queriesThroughOwnClient: true,
      skipsRehearsal: true,
      skipsRunCounters: true,
      measuresLevelsOnce: true,
    },
  };
  registerPlan(plan);
  return { plan, problems, warnings };
}

function toTarget(settings: Settings, warnings: string[]): TritonTargetPlan | OpenAiTargetPlan {
  const { model, isStreaming, headers } = settings;
  const url = toUrl(settings);
  const tls = toTls(settings, warnings);
  if (settings.serviceKind === "openai") {
    const { endpoint } = settings;
    return { kind: "openai", url, protocol: "http", endpoint, model, batchSize: 1, isStreaming, headers, tls };
  }
  return {
    kind: "triton",
    url,
    protocol: settings.protocol ?? "http",
    model,
    modelVersion: settings.modelVersion,
    batchSize: settings.batchSize,
    isStreaming,
    inputTensorFormat: settings.inputTensorFormat,
    outputTensorFormat: settings.outputTensorFormat,
    headers,
    shapes: settings.shapes,
    sharedMemory: settings.sharedMemory,
    outputSharedMemoryBytes: settings.outputSharedMemoryBytes ?? DEFAULT_OUTPUT_SHARED_MEMORY_BYTES,
    parameters: settings.parameters,
    compression: settings.compression ?? "none",
    composingModels: settings.composingModels,
    tls,
  };
}

function toUrl({ url, protocol }: Settings): string {
  return url ?? (protocol === "grpc" ? "localhost:8001" : "localhost:8000");
}

function toTelemetry(settings: Settings, warnings: string[]): TelemetryPlan {
  const { isCollectingMetrics, metricsUrl, metricsIntervalMs, trace, csvFile, isVerboseCsv } = settings;
  if (!isCollectingMetrics && !isGiven(trace)) return NO_TELEMETRY;
  if (isCollectingMetrics && csvFile !== "" && !isVerboseCsv)
    warnings.push("rampart: the metrics are in the CSV only with --verbose-csv.");
  return {
    metrics: isCollectingMetrics
      ? {
          url: metricsUrl ?? defaultMetricsUrl(toUrl(settings)),
          intervalMs: metricsIntervalMs ?? DEFAULT_METRICS_INTERVAL_MS,
        }
      : null,
    trace: isGiven(trace) ? { ...NO_TRACE, ...trace } : null,
  };
}

/** Flags that do something only beside another one; the original keeps it to itself. */
function warnAlone(settings: Settings, warnings: string[]): void {
  if (settings.periodResponses !== undefined && settings.periodic === undefined)
    warnings.push("rampart: --request-period has no effect without --periodic-concurrency-range.");
  if (settings.outputSharedMemoryBytes !== undefined && settings.sharedMemory === "none")
    warnings.push("rampart: --output-shared-memory-size has no effect without --shared-memory system or cuda.");
  const { sessionConcurrency, requestCount, warmupRequests } = settings;
  for (const [flag, isGivenToo] of [
    ["--request-count", requestCount !== undefined],
    ["--warmup-request-count", warmupRequests > 0],
  ] as const)
    if (isGivenToo && sessionConcurrency !== undefined)
      warnings.push(
        `rampart: ${flag} has no effect with --session-concurrency: every session is held once, to its end.`,
      );
  const { windowMs, stabilityPct, maxTrials, measurementMode, requestsPerWindow } = settings;
  const isOfWindows =
    windowMs !== 5000 ||
    stabilityPct !== 10 ||
    maxTrials !== 10 ||
    measurementMode !== "time_windows" ||
    requestsPerWindow !== 50;
  if (settings.periodic !== undefined && isOfWindows)
    warnings.push("rampart: periodic concurrency has no windows: the flags of windows and stability have no effect.");
}

/** The flags of each protocol have their own names; with HTTP an https:// URL asks for TLS. */
function toTls({ protocol, url, metricsUrl, sslGrpc, sslHttps }: Settings, warnings: string[]): TlsPlan {
  const isGrpc = protocol === "grpc";
  if (isGiven(sslGrpc) && (!isGrpc || sslGrpc.isEnabled !== true))
    warnings.push("rampart: the --ssl-grpc flags have no effect without -i grpc and --ssl-grpc-use-ssl.");
  const usesHttps = url?.includes("https://") === true || metricsUrl?.startsWith("https://") === true;
  if (isGiven(sslHttps) && (isGrpc || !usesHttps))
    warnings.push("rampart: the --ssl-https flags have no effect without an https:// URL.");
  return { ...DEFAULT_TLS, ...(isGrpc ? sslGrpc : sslHttps) };
}

function toSequences({ sequences }: Settings): SequencesPlan {
  const {
    length = DEFAULT_SEQUENCES.length,
    lengthVariationPct = DEFAULT_SEQUENCES.lengthVariationPct,
    startId = DEFAULT_SEQUENCES.startId,
    idCount = DEFAULT_SEQUENCES.idCount,
    concurrent = DEFAULT_SEQUENCES.concurrent,
    isSerial = DEFAULT_SEQUENCES.isSerial,
  } = sequences;
  return { length, lengthVariationPct, startId, idCount, concurrent, isSerial };
}

function toLoad(settings: Settings, isAsync: boolean, warnings: string[]): LoadPlan {
  if (settings.isFixedSchedule) return { kind: "fixed-schedule" };
  if (settings.periodic !== undefined)
    return {
      kind: "periodic-concurrency",
      ...settings.periodic,
      periodResponses: settings.periodResponses ?? DEFAULT_PERIOD_RESPONSES,
    };
  if (settings.sessionConcurrency !== undefined)
    return { kind: "session-concurrency", concurrency: settings.sessionConcurrency };
  if (settings.intervalsFile !== undefined) return { kind: "intervals", file: settings.intervalsFile };
  const search = settings.isBinarySearch ? "binary" : "linear";
  if (settings.requestRate !== undefined) {
    return {
      kind: "request-rate",
      levels: toLevels(settings.requestRate),
      search,
      distribution: settings.distribution,
      seed: POISSON_SEED,
    };
  }
  const range = settings.concurrency ?? { start: 1, end: undefined, step: undefined };
  const levels: LevelsPlan = settings.isBinarySearch
    ? { kind: "range", start: range.start, end: range.end ?? 1, step: range.step ?? 1 }
    : toLevels(range);
  if (!isAsync) {
    if (range.end === 0) {
      warnings.push("WARNING: The maximum attainable concurrency will be limited by max_threads specification.");
      return {
        kind: "concurrency",
        levels: {
          kind: "range",
          start: range.start,
          end: settings.maxThreads ?? DEFAULT_MAX_THREADS,
          step: range.step ?? 1,
          isThreadLimited: true,
        },
        search,
      };
    }
    if (settings.maxThreads !== undefined) {
      warnings.push("WARNING: Overriding max_threads specification to ensure requested concurrency range.");
    }
  }
  return { kind: "concurrency", levels, search };
}

/** A range as the original reads it: an end of 1 (or none) is a single level, an end of 0 is none. */
function toLevels(range: {
  start: number;
  end: number | undefined;
  step: number | undefined;
}): Extract<LoadPlan, { kind: "concurrency" }>["levels"] {
  const { start, end = 1, step = 1 } = range;
  if (end === 1) return { kind: "list", values: [start] };
  return { kind: "range", start, end: end === 0 ? null : end, step };
}

function toMaxLanes(settings: Settings, load: LoadPlan, isAsync: boolean): number | null {
  if (load.kind === "session-concurrency") return settings.maxThreads ?? null;
  if (load.kind !== "concurrency") return settings.maxThreads ?? DEFAULT_RATE_THREADS;
  if (!isAsync && settings.isSync) return null;
  return settings.maxThreads ?? Math.max(DEFAULT_MAX_THREADS, settings.concurrency?.end ?? 1);
}

function toInputs(settings: Settings, warnings: string[]): InputsPlan {
  const { stringLength, stringData } = settings;
  const paths: string[] = [];
  for (const value of settings.inputData) if (value !== "zero") paths.push(value);
  const [first] = paths;
  if (settings.serviceKind === "openai") {
    const moreFiles = paths.slice(1);
    return { kind: "payloads", file: first ?? "", ...(moreFiles.length === 0 ? {} : { moreFiles }) };
  }
  if (first !== undefined && isDirectory(first)) {
    // As in the original; which keeps it to itself.
    for (const path of paths.slice(1))
      warnings.push(`rampart: --input-data ${path} is ignored: only the directory ${first}, named first, is read.`);
    return { kind: "directory", directory: first };
  }
  if (paths.length > 0) return { kind: "json", files: paths };
  return { kind: settings.inputData.includes("zero") ? "zero" : "random", stringLength, stringData };
}

function toMode(settings: Settings): MeasurementModePlan {
  if (settings.isFixedSchedule || settings.sessionConcurrency !== undefined) return { kind: "requests", count: null };
  if (settings.periodic !== undefined) return { kind: "requests", count: settings.periodic.end };
  if (settings.requestCount !== undefined) return { kind: "requests", count: settings.requestCount };
  const stability = { stabilityPct: settings.stabilityPct, maxTrials: settings.maxTrials };
  if (settings.measurementMode === "count_windows")
    return { kind: "count-windows", requestsPerWindow: settings.requestsPerWindow, ...stability };
  return { kind: "time-windows", windowMs: settings.windowMs, ...stability };
}
