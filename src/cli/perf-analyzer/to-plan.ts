import { MAX_CONCURRENCY } from "../../load/levels.ts";
import type { InputsPlan, LoadPlan, MeasurementModePlan, Plan, TlsPlan } from "../../plan/plan.ts";
import type { Problem } from "../../plan/problem.ts";
import { DEFAULT_TLS } from "../../plan/tls.ts";
import { isDirectory, isWritable } from "../output-files.ts";
import type { Settings } from "./settings.ts";

/** From flags to a plan, with perf_analyzer's rules between flags. */

const DEFAULT_MAX_THREADS = 16;
const DEFAULT_RATE_THREADS = 4;
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
  const problems = [...checkTogether(settings), ...checkOutputs(settings)];
  const warnings: string[] = [];
  const isAsync = settings.isAsync || settings.isStreaming;
  const load = toLoad(settings, isAsync, warnings);
  const plan: Plan = {
    version: 1,
    name: settings.model,
    target: {
      kind: "triton",
      url: settings.url ?? (settings.protocol === "grpc" ? "localhost:8001" : "localhost:8000"),
      protocol: settings.protocol ?? "http",
      model: settings.model,
      modelVersion: settings.modelVersion,
      batchSize: settings.batchSize,
      isStreaming: settings.isStreaming,
      inputTensorFormat: settings.inputTensorFormat,
      outputTensorFormat: settings.outputTensorFormat,
      headers: settings.headers,
      shapes: settings.shapes,
      parameters: settings.parameters,
      tls: toTls(settings, warnings),
    },
    load,
    inputs: toInputs(settings),
    measurement: {
      mode: toMode(settings),
      warmupRequests: settings.warmupRequests,
      percentile: settings.percentile,
      latencyLimitMs: settings.latencyLimitMs,
    },
    client: {
      kind: settings.client,
      callMode: isAsync ? "async" : "sync",
      maxLanes: toMaxLanes(settings, load, isAsync),
      stallTimeoutMs: settings.stallTimeoutMs,
    },
    failures: { maxRatio: settings.maxFailureRatio },
    assertions: [],
    outputs: {
      style: "perf_analyzer",
      verbosity: settings.verbosity,
      csvFile: settings.csvFile,
      isVerboseCsv: settings.isVerboseCsv,
      profileExportFile: settings.profileExportFile,
      jsonFile: settings.jsonFile,
    },
  };
  return { plan, problems, warnings };
}

/** The flags of each protocol have their own names; with HTTP an https:// URL asks for TLS. */
function toTls({ protocol, url, sslGrpc, sslHttps }: Settings, warnings: string[]): TlsPlan {
  const isGrpc = protocol === "grpc";
  if (isGiven(sslGrpc) && (!isGrpc || sslGrpc.isEnabled !== true))
    warnings.push("rampart: the --ssl-grpc flags have no effect without -i grpc and --ssl-grpc-use-ssl.");
  if (isGiven(sslHttps) && (isGrpc || url?.includes("https://") !== true))
    warnings.push("rampart: the --ssl-https flags have no effect without an https:// URL.");
  return { ...DEFAULT_TLS, ...(isGrpc ? sslGrpc : sslHttps) };
}

function isGiven(flags: object): boolean {
  for (const _name in flags) return true;
  return false;
}

function toLoad(settings: Settings, isAsync: boolean, warnings: string[]): LoadPlan {
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
  const levels = toLevels(range);
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
  if (load.kind !== "concurrency") return settings.maxThreads ?? DEFAULT_RATE_THREADS;
  if (!isAsync) return null;
  return settings.maxThreads ?? Math.max(DEFAULT_MAX_THREADS, settings.concurrency?.end ?? 1);
}

function toInputs(settings: Settings): InputsPlan {
  const { stringLength, stringData } = settings;
  const paths: string[] = [];
  for (const value of settings.inputData) if (value !== "zero") paths.push(value);
  const [first] = paths;
  if (first !== undefined && isDirectory(first)) return { kind: "directory", directory: first };
  if (paths.length > 0) return { kind: "json", files: paths };
  return { kind: settings.inputData.includes("zero") ? "zero" : "random", stringLength, stringData };
}

function toMode(settings: Settings): MeasurementModePlan {
  if (settings.requestCount !== undefined) return { kind: "requests", count: settings.requestCount };
  const stability = { stabilityPct: settings.stabilityPct, maxTrials: settings.maxTrials };
  if (settings.measurementMode === "count_windows")
    return { kind: "count-windows", requestsPerWindow: settings.requestsPerWindow, ...stability };
  return { kind: "time-windows", windowMs: settings.windowMs, ...stability };
}

/** The original's rules between flags, all of them looked at. */
function checkTogether(settings: Settings): Problem[] {
  const problems: Problem[] = [];
  const rule = (isBroken: boolean, path: string, message: string, hint: string): void => {
    if (isBroken) problems.push({ path, message, hint });
  };
  const { concurrency, requestRate, intervalsFile } = settings;
  rule(
    settings.model === "",
    "-m",
    "Failed to parse -m (model name). The value must be specified.",
    "Give the model with -m.",
  );
  rule(
    Math.max(concurrency?.start ?? 1, concurrency?.end ?? 1) > MAX_CONCURRENCY,
    "--concurrency-range",
    `Failed to parse --concurrency-range. The concurrency must be ${MAX_CONCURRENCY} at most.`,
    "Give fewer requests outstanding.",
  );
  rule(
    concurrency !== undefined && requestRate !== undefined,
    "--request-rate-range",
    "Cannot use both Concurrency and RequestRate inference load modes.",
    "Give --concurrency-range or --request-rate-range.",
  );
  rule(
    concurrency !== undefined && intervalsFile !== undefined,
    "--request-intervals",
    "Cannot use both Concurrency and CustomIntervals inference load modes.",
    "Give --concurrency-range or --request-intervals.",
  );
  rule(
    requestRate !== undefined && intervalsFile !== undefined,
    "--request-intervals",
    "Cannot use both RequestRate and CustomIntervals inference load modes.",
    "Give --request-rate-range or --request-intervals.",
  );
  rule(
    settings.isStreaming && settings.protocol !== "grpc",
    "--streaming",
    "Streaming is only allowed with gRPC protocol and Triton C API.",
    "Add -i grpc.",
  );
  rule(
    isGiven(settings.parameters) && settings.protocol !== "grpc",
    "--request-parameter",
    "The --request-parameter option is currently only supported by gRPC protocol.",
    "Add -i grpc.",
  );
  rule(
    settings.isAsync && settings.isSync,
    "--sync",
    "Cannot specify --async and --sync simultaneously.",
    "Give one of them.",
  );
  rule(
    settings.isStreaming && settings.isSync,
    "--sync",
    "can not use streaming with synchronous API",
    "Leave --sync out.",
  );
  rule(
    settings.inputData.includes("zero") && hasPath(settings.inputData),
    "--input-data",
    "The -z flag cannot be set when --data-directory is provided.",
    "Give --input-data zero or paths.",
  );
  rule(
    settings.client === "undici" && settings.protocol === "grpc",
    "--client",
    "Cannot use --client undici with gRPC.",
    "Give own or grpc-js.",
  );
  rule(
    settings.client === "grpc-js" && settings.protocol === "http",
    "--client",
    "Cannot use --client grpc-js with HTTP.",
    "Give own or undici.",
  );
  return [...problems, ...checkSearch(settings), ...checkCounts(settings)];
}

function hasPath(inputData: readonly string[]): boolean {
  for (const value of inputData) if (value !== "zero") return true;
  return false;
}

function checkSearch(settings: Settings): Problem[] {
  const problems: Problem[] = [];
  const range = settings.requestRate ?? settings.concurrency;
  const flag = settings.requestRate === undefined ? "--concurrency-range" : "--request-rate-range";
  const isEndless = range?.end === 0;
  if (isEndless && settings.latencyLimitMs === null) {
    problems.push({
      path: flag,
      message: "The end of the search range and the latency limit can not be both 0 (or 0.0) simultaneously",
      hint: `Give ${flag} an end, or give --latency-threshold.`,
    });
  }
  if (!settings.isBinarySearch) return problems;
  if (isEndless) {
    problems.push({
      path: flag,
      message: "The end of the range can not be 0 (or 0.0) for binary search mode.",
      hint: "Give an end.",
    });
  } else if (range !== undefined && (range.end ?? 1) < range.start) {
    problems.push({
      path: flag,
      message: "The end of the range can not be less than start of the range for binary search mode.",
      hint: `Write ${flag} ${range.end ?? 1}:${range.start}.`,
    });
  } else if (range?.end === undefined) {
    problems.push({
      path: flag,
      message: "A binary search needs a start and an end.",
      hint: `Write for example ${flag} 1:16:2.`,
    });
  }
  if (settings.latencyLimitMs === null) {
    problems.push({
      path: "--latency-threshold",
      message: "The --latency-threshold cannot be 0 for binary search mode.",
      hint: "Give the limit in milliseconds with -l.",
    });
  }
  return problems;
}

function checkCounts(settings: Settings): Problem[] {
  const problems: Problem[] = [];
  const rate = settings.requestRate;
  const concurrency =
    rate === undefined && settings.intervalsFile === undefined
      ? (settings.concurrency ?? { start: 1, end: 1 })
      : undefined;
  const hasManyLevels = (range: { start: number; end: number | undefined } | undefined): boolean =>
    range !== undefined && range.start < (range.end ?? 1);
  const { requestCount } = settings;
  for (const [flag, count] of [
    ["--request-count", requestCount ?? 0],
    ["--warmup-request-count", settings.warmupRequests],
  ] as const) {
    if (count === 0) continue;
    if (hasManyLevels(concurrency))
      problems.push({
        path: flag,
        message: `${flag} not supported with multiple concurrency values in one run`,
        hint: "Give a single concurrency.",
      });
    if (hasManyLevels(rate))
      problems.push({
        path: flag,
        message: `${flag} not supported with multiple request rate values in one run`,
        hint: "Give a single request rate.",
      });
  }
  if (requestCount === undefined) return problems;
  if (concurrency !== undefined && requestCount < concurrency.start) {
    problems.push({
      path: "--request-count",
      message: "--request-count can not be less than concurrency",
      value: String(requestCount),
      hint: `Give ${concurrency.start} or more.`,
    });
  }
  if (rate !== undefined && requestCount < Math.trunc(rate.start)) {
    problems.push({
      path: "--request-count",
      message: "--request-count can not be less than request rate",
      value: String(requestCount),
      hint: `Give ${Math.trunc(rate.start)} or more.`,
    });
  }
  return problems;
}

/** Output files are refused before a run, not after it. */
function checkOutputs(settings: Settings): Problem[] {
  const problems: Problem[] = [];
  for (const [flag, path, said] of [
    ["--json", settings.jsonFile, "failed to open file for outputting the JSON report"],
    ["-f", settings.csvFile, "failed to open file for outputting the report"],
    ["--profile-export-file", settings.profileExportFile, "failed to open file for outputting raw profile data"],
  ] as const) {
    if (path !== "" && !isWritable(path))
      problems.push({
        path: flag,
        message: said,
        value: path,
        hint: "Give a path in an existing folder that can be written.",
      });
  }
  return problems;
}
