import { COMPATIBLE_BEHAVIOUR } from "../../plan/behaviour.ts";
import type { LevelsPlan, LoadPlan } from "../../plan/load-plan.ts";
import type { CallModePlan, InputsPlan, MeasurementModePlan, Plan } from "../../plan/plan.ts";
import type { Problem } from "../../plan/problem.ts";
import type { TelemetryPlan } from "../../plan/telemetry.ts";
import type { TlsPlan } from "../../plan/tls.ts";
import { registerPlan } from "../../registry/service-kinds.ts";
import { DEFAULT_ASYNC_LANES } from "../../run/lanes.ts";
import { defaultMetricsUrl } from "../../telemetry/metrics-url.ts";
import { valueAt } from "../options/place.ts";
import { type PlanValues, sharedOptions, withPlanValues } from "../options/shared-options.ts";
import { isDirectory } from "../output-files.ts";
import { asksZeros, pathsOf } from "./input-data.ts";
import { kindOf } from "./kinds/kinds.ts";
import { checkTogether, requestCounts } from "./rules.ts";
import { ONE_REQUEST, type RangeValue, Settings } from "./settings.ts";
import { defaultLanes } from "./threads.ts";

/** Converts the settings to a plan, with perf_analyzer's rules between options. */

const POISSON_SEED = 5489; // default seed of C++ generators

/** A plan, its problems and warnings. */
export interface PlanFromFlags {
  readonly plan: Plan;
  readonly problems: readonly Problem[];
  /** Lines for stderr, in perf_analyzer's words where it has them. */
  readonly warnings: readonly string[];
}

/** Builds the plan. It can only be run if there are no problems. */
export function toPlan(settings: Settings): PlanFromFlags {
  kindOf(settings).prepare?.(settings);
  const warnings: string[] = [];
  const load = toLoad(settings, warnings);
  const callMode = callModeOf(settings);
  warnAlone(settings, warnings);
  for (const flag of unusedFlags(settings))
    warnings.push(`rampart: ${flag} has no effect with ${kindOf(settings).server}.`);
  const plan = withPlanValues(
    {
      version: 1,
      name: settings.target.model,
      target: kindOf(settings).toTarget(settings, { url: urlOf(settings), tls: toTls(settings, warnings) }),
      load,
      sequences: settings.sequences,
      inputs: toInputs(settings, warnings),
      measurement: {
        ...settings.measurement,
        mode: toMode(settings),
        // Like perf_analyzer, which never warms up with sessions. A warning says so.
        warmupRequests: settings.sessionConcurrency === undefined ? settings.measurement.warmupRequests : 0,
      },
      client: { ...settings.client, callMode, maxLanes: toMaxLanes(settings, load, callMode) },
      failures: settings.failures,
      telemetry: toTelemetry(settings, warnings),
      assertions: [],
      outputs: settings.outputs,
      behaviour: { ...COMPATIBLE_BEHAVIOUR, queriesThroughOwnClient: true, startsEarly: true },
    },
    sharedValues(settings),
  );
  registerPlan(plan);
  return { plan, problems: checkTogether(settings), warnings };
}

/** Returns the values of the options that other commands have too: the plan has them all, and the settings above only some. */
function sharedValues(settings: Settings): PlanValues {
  const values = sharedOptions("perf_analyzer").map(
    ({ setting = "" }) => [setting, valueAt(settings, setting)] as const,
  );
  return new Map(values.filter(([, value]) => value !== undefined));
}

/** Given options that perf_analyzer ignores with this service kind. */
function unusedFlags(settings: Settings): readonly string[] {
  const kind = kindOf(settings);
  const ofSignatures = kind.hasSignatures !== true && settings.given.has(SIGNATURE_FLAG) ? [SIGNATURE_FLAG] : [];
  return [...ofSignatures, ...(kind.unused?.(settings) ?? [])];
}

const SIGNATURE_FLAG = "--model-signature-name";

function callModeOf({ isAsync, isSync, target }: Settings): CallModePlan {
  if (isAsync || target.isStreaming) return "async";
  return isSync ? "sync" : "auto";
}

function urlOf(settings: Settings): string {
  const { url, protocol } = settings.target;
  return url ?? kindOf(settings).defaultUrl(protocol);
}

function toTelemetry(settings: Settings, warnings: string[]): TelemetryPlan {
  const { isCollectingMetrics, metricsUrl, metricsIntervalMs, telemetry, outputs } = settings;
  if (isCollectingMetrics && outputs.files.perfAnalyzerCsv !== undefined && !outputs.isVerboseCsv)
    warnings.push("rampart: the metrics are in the CSV only with --verbose-csv.");
  const url = metricsUrl ?? defaultMetricsUrl(urlOf(settings));
  const isTracing = Object.values(telemetry.trace).some((setting) => setting !== null);
  return {
    metrics: isCollectingMetrics ? { url, intervalMs: metricsIntervalMs } : null,
    trace: isTracing ? telemetry.trace : null,
  };
}

/** Warns of options that only have an effect together with another one. perf_analyzer does not warn. */
function warnAlone(settings: Settings, warnings: string[]): void {
  const { given, target, periodic, sessionConcurrency } = settings;
  if (given.has("--request-period") && periodic === undefined)
    warnings.push("rampart: --request-period has no effect without --periodic-concurrency-range.");
  if (given.has("--output-shared-memory-size") && target.sharedMemory === "none")
    warnings.push("rampart: --output-shared-memory-size has no effect without --shared-memory system or cuda.");
  for (const [flag, count] of requestCounts(settings))
    if (count > 0 && sessionConcurrency !== undefined)
      warnings.push(
        `rampart: ${flag} has no effect with --session-concurrency: every session is held once, to its end.`,
      );
  const initial = new Settings();
  const isOfWindows =
    settings.measurementMode !== initial.measurementMode ||
    JSON.stringify(settings.measurement.mode) !== JSON.stringify(initial.measurement.mode);
  if (periodic !== undefined && isOfWindows)
    warnings.push("rampart: periodic concurrency has no windows: the flags of windows and stability have no effect.");
}

const USE_SSL = "--ssl-grpc-use-ssl";

/** Each protocol has options with its own names. For HTTP, an https:// URL enables TLS. */
function toTls({ given, target, metricsUrl, sslGrpc, sslHttps }: Settings, warnings: string[]): TlsPlan {
  const isGrpc = target.protocol === "grpc";
  const isAnyGiven = (start: string): boolean => [...given].some((name) => name.startsWith(start));
  const isTurnedOff = given.has(USE_SSL) && !sslGrpc.isEnabled;
  if (isAnyGiven("--ssl-grpc") && !isTurnedOff && !(isGrpc && sslGrpc.isEnabled))
    warnings.push("rampart: the --ssl-grpc flags have no effect without -i grpc and --ssl-grpc-use-ssl.");
  const usesHttps = target.url?.includes("https://") === true || metricsUrl?.startsWith("https://") === true;
  if (isAnyGiven("--ssl-https") && (isGrpc || !usesHttps))
    warnings.push("rampart: the --ssl-https flags have no effect without an https:// URL.");
  return isGrpc ? sslGrpc : sslHttps;
}

function toLoad(settings: Settings, warnings: string[]): LoadPlan {
  const { periodic, periodResponses, sessionConcurrency, intervalsFile, requestRate, distribution } = settings;
  if (settings.isFixedSchedule) return { kind: "fixed-schedule" };
  if (periodic !== undefined) return { kind: "periodic-concurrency", ...periodic, periodResponses };
  if (sessionConcurrency !== undefined) return { kind: "session-concurrency", concurrency: sessionConcurrency };
  if (intervalsFile !== undefined) return { kind: "intervals", file: intervalsFile };
  const search = settings.isBinarySearch ? "binary" : "linear";
  if (requestRate !== undefined)
    return { kind: "request-rate", levels: toLevels(requestRate, search), search, distribution, seed: POISSON_SEED };
  return { kind: "concurrency", levels: toConcurrency(settings, warnings), search };
}

function toConcurrency(settings: Settings, warnings: string[]): LevelsPlan {
  const { concurrency = ONE_REQUEST, isBinarySearch, maxThreads } = settings;
  const { start, end, step = 1 } = concurrency;
  if (callModeOf(settings) !== "async") {
    if (end === 0) {
      warnings.push("WARNING: The maximum attainable concurrency will be limited by max_threads specification.");
      return { kind: "range", start, end: maxThreads ?? DEFAULT_ASYNC_LANES, step, isThreadLimited: true };
    }
    if (maxThreads !== undefined)
      warnings.push("WARNING: Overriding max_threads specification to ensure requested concurrency range.");
  }
  return toLevels(concurrency, isBinarySearch ? "binary" : "linear");
}

/** Converts a range like perf_analyzer: an end of 1 (or no end) is a single level, and an end of 0 means no end. A binary search has an end. */
function toLevels({ start, end = 1, step = 1 }: RangeValue, search: "linear" | "binary"): LevelsPlan {
  if (search === "binary") return { kind: "range", start, end, step };
  if (end === 1) return { kind: "list", values: [start] };
  return { kind: "range", start, end: end === 0 ? null : end, step };
}

/** With --sync, a level has as many lanes as requests outstanding. */
function toMaxLanes({ maxThreads }: Settings, load: LoadPlan, callMode: CallModePlan): number | null {
  const lanes = defaultLanes(load, callMode);
  return callMode === "sync" && lanes === null ? null : (maxThreads ?? lanes);
}

function toInputs(settings: Settings, warnings: string[]): InputsPlan {
  const paths = pathsOf(settings.inputData);
  const [first, ...moreFiles] = paths;
  const { toInputs: toKindInputs } = kindOf(settings);
  if (toKindInputs !== undefined) return toKindInputs(settings, paths);
  if (first !== undefined && isDirectory(first)) {
    // Like perf_analyzer, which does not warn.
    for (const path of moreFiles)
      warnings.push(`rampart: --input-data ${path} is ignored: only the directory ${first}, named first, is read.`);
    return { kind: "directory", directory: first };
  }
  if (first !== undefined) return { kind: "json", files: paths, refusesShortFloats: true };
  return { kind: asksZeros(settings.inputData) ? "zero" : "random", ...settings.inputs };
}

function toMode(settings: Settings): MeasurementModePlan {
  const { periodic, requestCount, sessionConcurrency, isFixedSchedule } = settings;
  const { windowMs, requestsPerWindow, ...stability } = settings.measurement.mode;
  if (isFixedSchedule || sessionConcurrency !== undefined) return { kind: "requests", count: null };
  if (periodic !== undefined) return { kind: "requests", count: periodic.end };
  if (requestCount !== undefined) return { kind: "requests", count: requestCount };
  if (settings.measurementMode === "count_windows") return { kind: "count-windows", requestsPerWindow, ...stability };
  return { kind: "time-windows", windowMs, ...stability };
}
