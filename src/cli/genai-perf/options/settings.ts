import type { InputFormat } from "../../../inputs/prompts/settings.ts";
import { DEFAULT_MAX_RESPONSE_BYTES } from "../../../plan/response-limit.ts";
import type { EndpointTypeName } from "../endpoints.ts";

/** What a command line and a YAML file say, value by value, with genai-perf's defaults. Grouped as the YAML's top-level keys. */

/** The subcommands. `config` is none of the settings: it becomes what its file asks for. */
export type Subcommand = "profile" | "analyze" | "create-template" | "process-export-files";

/** The load. Exactly one; session concurrency wins over what else is given, as in the original. */
export type Stimulus =
  | { readonly kind: "concurrency"; readonly requests: number }
  | { readonly kind: "request_rate"; readonly ratePerSec: number }
  | { readonly kind: "session_concurrency"; readonly sessions: number }
  | { readonly kind: "fixed_schedule" };

/** What `analyze` varies. */
export type SweepType =
  | "runtime_batch_size"
  | "concurrency"
  | "num_dataset_entries"
  | "input_sequence_length"
  | "request_rate";

/** One swept parameter: a range, walked by doubling, or its values. */
export type Sweep = { readonly type: SweepType } & (
  | { readonly kind: "range"; readonly min: number; readonly max: number }
  | { readonly kind: "list"; readonly values: readonly number[] }
);

/** Mean and standard deviation, in the unit the field's name gives. */
export interface Spread {
  mean: number;
  stddev: number;
}

/** Rampart's own options; YAML key `rampart`. */
export interface OwnSettings {
  /** Gaps between requests with a request rate. */
  rateDistribution: "constant" | "poisson" | "gamma";
  /** Shape of the gamma distribution: 1 is Poisson, more is smoother, less is burstier. Default 1. */
  rateSmoothness: number;
  /** Most requests outstanding with a request rate. */
  concurrencyLimit: number | null;
  concurrencyRampSec: number | null;
  rateRampSec: number | null;
  durationSec: number | null;
  /** How long answers are awaited after `durationSec`. Default 30. */
  gracePeriodSec: number;
  warmupSec: number | null;
  hasScheduleAutoOffset: boolean;
  scheduleStartMs: number | null;
  scheduleEndMs: number | null;
  /** 2 replays a schedule in half its time. Default 1. */
  scheduleSpeedRatio: number;
  cancelPct: number;
  cancelDelaySec: number;
  /** More servers beside `endpoint.url`, taken in turn. */
  moreUrls: string[];
  /** Environment variable that holds the API key; empty: none. */
  apiKeyEnv: string;
  systemPromptTokens: number;
  /** Mix of input and output lengths, `ISL,OSL:PERCENT;…`; empty: none. */
  sequenceMix: string;
  inputFormat: InputFormat;
  /** Streams are not asked for the server's own token counts. */
  isUsageLeftOut: boolean;
  /** Limits for the search of the highest load, as for goodput; null: no search. */
  searchLimits: Readonly<Record<string, number>> | null;
  /** Share of requests that may fail, 0 to 1. Default 1: failures are counted and end nothing. */
  maxFailureRatio: number;
  stallTimeoutSec: number;
  /** Null: no limit. */
  requestTimeoutSec: number | null;
  maxResponseBytes: number;
  plotFormats: string[];
  recordsFile: string;
  isLive: boolean;
  isDryRun: boolean;
}

/** All settings. Paths are as the user wrote them. */
export interface GenaiSettings {
  modelNames: string[];
  subcommand: Subcommand;
  isVerbose: boolean;
  templateFile: string;
  analyze: { sweeps: readonly Sweep[] };
  endpoint: {
    modelSelection: "round_robin" | "random";
    backend: "tensorrtllm" | "vllm";
    /** The user's own path; empty: the type's. See `endpointPath`. */
    path: string;
    type: EndpointTypeName;
    isStreaming: boolean;
    serverMetricsUrls: string[];
    url: string;
    grpcMethod: string;
  };
  perfAnalyzer: {
    /** Where the original finds perf_analyzer; Rampart starts no other program. */
    executable: string;
    isVerbose: boolean;
    stimulus: Stimulus;
    stabilityPct: number;
    /** `num` is requests in mode `request_count` (null: max(10, 2 × concurrency)) and milliseconds in mode `interval`. */
    measurement: { mode: "request_count" | "interval"; num: number | null };
    warmupRequests: number;
  };
  input: {
    textBatchSize: number;
    /** Fields merged into every request body. */
    extra: Readonly<Record<string, unknown>> | null;
    /** Limits by metric: milliseconds, or tokens per second for throughputs. */
    goodput: Readonly<Record<string, number>> | null;
    /** `Name:Value`, in the order given. */
    headers: string[];
    /** A path, `synthetic:a,b`, `payload:PATH`, or empty. */
    file: string;
    datasetEntries: number;
    randomSeed: number;
    audio: {
      batchSize: number;
      lengthSec: Spread;
      format: "wav" | "mp3";
      depthsBits: number[];
      sampleRatesKhz: number[];
      channels: number;
    };
    /** `format` is drawn at random when nobody gave it; `given` tells. */
    image: { widthPx: Spread; heightPx: Spread; batchSize: number; format: "png" | "jpeg" };
    outputTokens: { mean: number | null; isDeterministic: boolean; stddev: number };
    syntheticTokens: Spread;
    prefixPrompt: { count: number; tokens: number };
    sessions: { count: number; turns: Spread; turnDelay: { meanMs: number; ratio: number; stddevMs: number } };
  };
  output: {
    artifactDir: string;
    checkpointDir: string;
    profileExportFile: string;
    isPlotting: boolean;
    isCheckpointing: boolean;
  };
  /** An empty name stands for the first model's. */
  tokenizer: { name: string; revision: string; isTrustingRemoteCode: boolean };
  process: { inputDir: string };
  rampart: OwnSettings;
  /** Flags of perf_analyzer that stood after `--`, but for the load. No file can give them. */
  passThrough: string[];
}

type Leaf = string | number | boolean | null | readonly unknown[] | Stimulus;
type PathIn<T> = {
  [K in keyof T & string]: T[K] extends Leaf ? K : string extends keyof NonNullable<T[K]> ? K : `${K}.${PathIn<T[K]>}`;
}[keyof T & string];

/** The way to one value in `GenaiSettings`, such as `input.audio.lengthSec.mean`. */
export type SettingPath = PathIn<GenaiSettings>;

/** One value by its path. */
export function getSetting(settings: GenaiSettings, path: SettingPath): unknown {
  return path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], settings);
}

/** Sets one value by its path; the caller has checked it against the path's field. */
export function setSetting(settings: GenaiSettings, path: SettingPath, value: unknown): void {
  const keys = path.split(".");
  const last = keys.pop() as string;
  const group = keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], settings);
  (group as Record<string, unknown>)[last] = value;
}

/** Whether a value is what holds when nothing is said. */
export function isDefault(settings: GenaiSettings, path: SettingPath): boolean {
  return JSON.stringify(getSetting(settings, path)) === JSON.stringify(getSetting(defaultSettings(), path));
}

const SPREAD: Spread = { mean: 0, stddev: 0 };

/** What holds when nothing is said. A new object each time. */
export function defaultSettings(): GenaiSettings {
  return {
    modelNames: [],
    subcommand: "profile",
    isVerbose: false,
    templateFile: "genai_perf_config.yaml",
    analyze: { sweeps: [{ kind: "range", type: "concurrency", min: 1, max: 1024 }] },
    endpoint: {
      modelSelection: "round_robin",
      backend: "tensorrtllm",
      path: "",
      type: "kserve",
      isStreaming: false,
      serverMetricsUrls: ["http://localhost:9400/metrics"],
      url: "localhost:8001",
      grpcMethod: "",
    },
    perfAnalyzer: {
      executable: "perf_analyzer",
      isVerbose: false,
      stimulus: { kind: "concurrency", requests: 1 },
      stabilityPct: 999,
      measurement: { mode: "request_count", num: null },
      warmupRequests: 0,
    },
    input: defaultInput(),
    output: {
      artifactDir: "artifacts",
      checkpointDir: "checkpoint",
      profileExportFile: "profile_export.json",
      isPlotting: false,
      isCheckpointing: false,
    },
    tokenizer: { name: "", revision: "main", isTrustingRemoteCode: false },
    process: { inputDir: "aggregated" },
    rampart: defaultOwn(),
    passThrough: [],
  };
}

function defaultInput(): GenaiSettings["input"] {
  return {
    textBatchSize: 1,
    extra: null,
    goodput: null,
    headers: [],
    file: "",
    datasetEntries: 100,
    randomSeed: 0,
    audio: {
      batchSize: 1,
      lengthSec: { ...SPREAD },
      format: "wav",
      depthsBits: [16],
      sampleRatesKhz: [16],
      channels: 1,
    },
    image: { widthPx: { ...SPREAD }, heightPx: { ...SPREAD }, batchSize: 1, format: "png" },
    outputTokens: { mean: null, isDeterministic: false, stddev: 0 },
    syntheticTokens: { mean: 550, stddev: 0 },
    prefixPrompt: { count: 0, tokens: 100 },
    sessions: { count: 0, turns: { mean: 1, stddev: 0 }, turnDelay: { meanMs: 0, ratio: 1, stddevMs: 0 } },
  };
}

function defaultOwn(): OwnSettings {
  return {
    rateDistribution: "constant",
    rateSmoothness: 1,
    concurrencyLimit: null,
    concurrencyRampSec: null,
    rateRampSec: null,
    durationSec: null,
    gracePeriodSec: 30,
    warmupSec: null,
    hasScheduleAutoOffset: false,
    scheduleStartMs: null,
    scheduleEndMs: null,
    scheduleSpeedRatio: 1,
    cancelPct: 0,
    cancelDelaySec: 0,
    moreUrls: [],
    apiKeyEnv: "",
    systemPromptTokens: 0,
    sequenceMix: "",
    inputFormat: "auto",
    isUsageLeftOut: false,
    searchLimits: null,
    maxFailureRatio: 1,
    stallTimeoutSec: 60,
    requestTimeoutSec: null,
    maxResponseBytes: DEFAULT_MAX_RESPONSE_BYTES,
    plotFormats: ["html"],
    recordsFile: "",
    isLive: false,
    isDryRun: false,
  };
}
