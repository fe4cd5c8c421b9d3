import type { LoadPlan, MeasurementModePlan, Plan, TargetPlan } from "../../plan/plan.ts";
import { DEFAULT_SEQUENCES } from "../../plan/sequences.ts";
import { NO_TELEMETRY } from "../../plan/telemetry.ts";
import { DEFAULT_TLS } from "../../plan/tls.ts";
import { ENDPOINT_TYPES, endpointPath } from "./endpoints.ts";
import type { GenaiSettings } from "./settings.ts";
import type { GivenSettings } from "./settings-builder.ts";

/** From settings to a plan. */

const DEFAULT_INTERVAL_MS = 10_000;
const MIN_REQUESTS = 10;
/** perf_analyzer's, which the original leaves it to where no URL is given. */
const DEFAULT_HTTP_URL = "localhost:8000";
const MAX_TRIALS = 10;

/** The files of a run, and what decides its length. */
export interface ProfileFiles {
  readonly inputsFile: string;
  readonly profileExportFile: string;
  /** Requests in `inputsFile`. */
  readonly entryCount: number;
}

/** The plan of one profile. @param headers of every request, the user's own and those of an API key */
export function toProfilePlan(
  settings: GenaiSettings,
  given: GivenSettings,
  files: ProfileFiles,
  headers: readonly (readonly [name: string, value: string])[],
): Plan {
  const { modelNames, perfAnalyzer, rampart } = settings;
  const target = toTarget(settings, given, headers);
  return {
    version: 1,
    name: modelNames[0] ?? "",
    target,
    load: toLoad(settings),
    sequences: DEFAULT_SEQUENCES,
    inputs:
      target.kind === "openai"
        ? { kind: "payloads", file: files.inputsFile }
        : { kind: "json", files: [files.inputsFile] },
    measurement: {
      mode: toMode(settings, files.entryCount),
      warmupRequests: perfAnalyzer.warmupRequests,
      percentile: null,
      latencyLimitMs: null,
    },
    client: {
      kind: "own",
      callMode: "async",
      maxLanes: null,
      stallTimeoutMs: rampart.stallTimeoutSec * 1000,
      isMpi: false,
    },
    failures: { maxRatio: rampart.maxFailureRatio < 1 ? rampart.maxFailureRatio : null },
    telemetry: NO_TELEMETRY,
    assertions: [],
    outputs: {
      style: "genai-perf",
      verbosity: 0,
      csvFile: "",
      isVerboseCsv: false,
      profileExportFile: files.profileExportFile,
      jsonFile: "",
    },
  };
}

function toTarget(
  { endpoint, modelNames }: GenaiSettings,
  given: GivenSettings,
  headers: Parameters<typeof toProfilePlan>[3],
): TargetPlan {
  const { type, path, isStreaming } = endpoint;
  const model = modelNames[0] ?? "";
  if (ENDPOINT_TYPES[type].serviceKind === "openai") {
    const base = { kind: "openai", protocol: "http", batchSize: 1, tls: DEFAULT_TLS } as const;
    const url = given.has("endpoint.url") ? endpoint.url : DEFAULT_HTTP_URL;
    return { ...base, url, endpoint: endpointPath(type, path, model), model, isStreaming, headers };
  }
  return {
    kind: "triton",
    url: endpoint.url,
    protocol: "grpc",
    model,
    modelVersion: "",
    batchSize: 1,
    isStreaming: true,
    inputTensorFormat: "binary",
    outputTensorFormat: "binary",
    headers,
    shapes: { text_input: [1], ...(endpoint.backend === "tensorrtllm" ? { max_tokens: [1] } : {}) },
    sharedMemory: "none",
    outputSharedMemoryBytes: 102_400,
    parameters: {},
    compression: "none",
    composingModels: [],
    tls: DEFAULT_TLS,
  };
}

function toLoad({ input, perfAnalyzer: { stimulus }, rampart }: GenaiSettings): LoadPlan {
  switch (stimulus.kind) {
    case "request_rate":
      return {
        kind: "request-rate",
        levels: { kind: "list", values: [stimulus.ratePerSec] },
        search: "linear",
        distribution: rampart.rateDistribution === "poisson" ? "poisson" : "constant",
        seed: input.randomSeed,
      };
    case "fixed_schedule":
      return { kind: "fixed-schedule" };
    default: {
      const concurrency = stimulus.kind === "concurrency" ? stimulus.requests : stimulus.sessions;
      return { kind: "concurrency", levels: { kind: "list", values: [concurrency] }, search: "linear" };
    }
  }
}

/** As in the original a payload file is sent once where nothing else is said. */
function toMode({ input, perfAnalyzer }: GenaiSettings, entryCount: number): MeasurementModePlan {
  const { measurement, stimulus, stabilityPct } = perfAnalyzer;
  if (stimulus.kind === "fixed_schedule") return { kind: "requests", count: null };
  if (measurement.mode === "interval") {
    const windowMs = measurement.num ?? DEFAULT_INTERVAL_MS;
    return { kind: "time-windows", windowMs, stabilityPct, maxTrials: MAX_TRIALS };
  }
  if (measurement.num !== null) return { kind: "requests", count: measurement.num };
  if (input.file.startsWith("payload:")) return { kind: "requests", count: entryCount };
  const concurrency = stimulus.kind === "concurrency" ? stimulus.requests : 1;
  return { kind: "requests", count: Math.max(MIN_REQUESTS, 2 * concurrency) };
}
