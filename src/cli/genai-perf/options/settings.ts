import type { AudioSettings } from "../../../inputs/media/synthetic-audio.ts";
import type { ImageSettings } from "../../../inputs/media/synthetic-image.ts";
import type { InputFormat, PromptSettings } from "../../../inputs/prompts/settings.ts";
import type { SchedulePartPlan } from "../../../plan/load-options.ts";
import type { PlotFormat } from "../../../report/plot.ts";
import type { LayoutSettings } from "../../../service/openai/payload.ts";
import type { EndpointTypeName } from "../endpoints.ts";
import type { Stimulus } from "../loads.ts";
import type { PassedFlags } from "./passed-flags.ts";

/**
 * The settings of a command line and a YAML file. `prompts` and `layout` are those of the plan's requests, and `schedule` is the part of
 * its load. The others are grouped by the YAML's top-level keys. The option tables have the defaults.
 */

/** The subcommands except `config`, which becomes the one that its file asks for. */
export type Subcommand = "profile" | "analyze" | "create-template" | "process-export-files";

/** Parameters that `analyze` can vary. */
export type SweepType =
  | "runtime_batch_size"
  | "concurrency"
  | "num_dataset_entries"
  | "input_sequence_length"
  | "request_rate";

/** One swept parameter: a range, in which values double, or a list of values. */
export type Sweep = { readonly type: SweepType } & (
  | { readonly kind: "range"; readonly min: number; readonly max: number }
  | { readonly kind: "list"; readonly values: readonly number[] }
);

/** The prompts of the plan, where each option has its value: a size or a number of 0 stands for none. */
export interface GivenPrompts
  extends Omit<
    Required<PromptSettings>,
    "source" | "mix" | "userContextTokens" | "isRanking" | "outputTokens" | "audio"
  > {
  /** Without a mean, the server decides. */
  readonly outputTokens: { readonly mean: number | null; readonly stddev: number };
  /** The format is drawn for each image unless it is given. */
  readonly images: Required<ImageSettings>;
  readonly audio: Omit<AudioSettings, "sampleRatesHz">;
}

/** Rampart's own options, with the YAML key `rampart`. Null stands for "not given". */
interface RampartSettings {
  rateDistribution: "constant" | "poisson" | "gamma";
  rateSmoothness: number;
  rateRampSec: number | null;
  durationSec: number | null;
  gracePeriodSec: number;
  cancelPct: number;
  cancelDelaySec: number;
  moreUrls: string[];
  sequenceMix: string;
  isUsageLeftOut: boolean;
  searchLimits: Readonly<Record<string, number>> | null;
  plotFormats: readonly PlotFormat[];
  /** Values of options that only land in the plan, at the same paths. */
  plan: Readonly<Record<string, unknown>>;
  /** The options that Rampart's other commands have too. An empty text stands for "not given". */
  shared: SharedSettings;
}

/** By the names of their options. */
export type SharedSettings = Readonly<Record<string, SharedSetting>>;

/** As the user gave it: durations in seconds. Each text of an option that may be repeated. */
export type SharedSetting = string | number | boolean | null | readonly string[];

/** All settings. Paths are as the user wrote them. */
export interface GenaiSettings {
  prompts: GivenPrompts;
  schedule: SchedulePartPlan;
  layout: Pick<LayoutSettings, "models" | "modelSelection" | "isStreaming" | "hasExactOutput">;
  subcommand: Subcommand;
  isVerbose: boolean;
  templateFile: string;
  analyze: { sweeps: readonly Sweep[] };
  endpoint: {
    backend: "tensorrtllm" | "vllm";
    /** The user's path; empty: the type's. See `endpointPath`. */
    path: string;
    type: EndpointTypeName;
    serverMetricsUrls: string[];
    url: string;
    grpcMethod: string;
  };
  perfAnalyzer: {
    /** GenAI-Perf's path of perf_analyzer. Rampart starts no other program. */
    executable: string;
    isVerbose: boolean;
    stimulus: Stimulus;
    stabilityPct: number;
    /** `num` is a number of requests in mode `request_count` (null: max(10, 2 × concurrency)) and milliseconds in mode `interval`. */
    measurement: { mode: "request_count" | "interval"; num: number | null };
    warmupRequests: number;
  };
  input: {
    /** Fields merged into every request body. */
    extra: Readonly<Record<string, unknown>> | null;
    /** Limits by metric: milliseconds, or tokens per second for throughputs. */
    goodput: Readonly<Record<string, number>> | null;
    /** `Name:Value`, in the given order. */
    headers: string[];
    /** A path, `synthetic:a,b`, `payload:PATH`, or empty. */
    file: string;
    format: InputFormat;
    /** Of the audio in `prompts`. */
    sampleRatesKhz: readonly number[];
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
  rampart: RampartSettings;
  /** Files cannot set them. */
  passed: PassedFlags;
}

type Leaf = string | number | boolean | null | readonly unknown[] | Stimulus | PassedFlags;
type PathIn<T> = {
  [K in keyof T & string]: T[K] extends Leaf ? K : string extends keyof NonNullable<T[K]> ? K : `${K}.${PathIn<T[K]>}`;
}[keyof T & string];

/** The path of a value in `GenaiSettings`, such as `prompts.audio.lengthS.mean`. */
export type SettingPath = PathIn<GenaiSettings> | SharedPath | LandedPath;

/** The path of an option that only lands in the plan. */
export type LandedPath = `rampart.plan.${string}`;

/** The path of an option that Rampart's other commands have too. */
export type SharedPath = `rampart.shared.${string}`;
