import { ENDPOINT_TYPES } from "./endpoints.ts";
import { OWN_FIELDS } from "./own-fields.ts";
import type { SettingPath } from "./settings.ts";

/** The YAML file's keys as one table: reading, checking, the template and the exported configuration are made from it. */

/** What a value may be. `file` is a path, `synthetic:…` or `payload:…`. */
export type FieldKind =
  | "text"
  | "path"
  | "file"
  | "boolean"
  | "integer"
  | "decimal"
  | "texts"
  | "integers"
  | "decimals"
  | "object"
  | "goodput"
  | "headers"
  | "stimulus"
  | "sweeps";

/** One key with a value. */
export interface Field {
  readonly key: string;
  /** Another spelling that files may use. */
  readonly alias?: string;
  readonly at: SettingPath;
  readonly kind: FieldKind;
  readonly choices?: readonly (string | number)[];
  readonly min?: number;
  readonly max?: number;
  /** Comment in every template. */
  readonly note?: string;
  /** Comment in verbose templates; lines by `\n`. */
  readonly about?: string;
  /** Set where the template shows a comment only. */
  readonly isCommented?: boolean;
  /** Set where a null is a mistake and not "not given". */
  readonly isRequired?: boolean;
}

/** A key with keys below it, in the order in which the original exports them. */
export interface FieldGroup {
  readonly key: string;
  /** The group's name in errors, as the original says it. */
  readonly label: string;
  readonly entries: readonly (Field | FieldGroup)[];
  /** Rampart's own: only in verbose templates, and not in the exported configuration. */
  readonly isOwn?: boolean;
}

/** Tells the two apart. */
export function isGroup(entry: Field | FieldGroup): entry is FieldGroup {
  return "entries" in entry;
}

/** The groups that hold a mean and a standard deviation. */
type SpreadPath =
  | "input.audio.lengthSec"
  | "input.image.widthPx"
  | "input.image.heightPx"
  | "input.syntheticTokens"
  | "input.sessions.turns";

function spread(key: string, label: string, at: SpreadPath, what: string): FieldGroup {
  return {
    key,
    label,
    entries: [
      {
        key: "mean",
        at: `${at}.mean`,
        kind: at === "input.audio.lengthSec" ? "decimal" : "integer",
        min: 0,
        about: `Mean of ${what}.`,
      },
      {
        key: "stddev",
        at: `${at}.stddev`,
        kind: "decimal",
        min: 0,
        about: `Standard deviation of ${what}.`,
      },
    ],
  };
}

const ENDPOINT: FieldGroup = {
  key: "endpoint",
  label: "endpoint",
  entries: [
    {
      key: "model_selection_strategy",
      at: "endpoint.modelSelection",
      kind: "text",
      choices: ["round_robin", "random"],
      about: "Which of several models a request goes to: each in turn (round_robin)\nor any of them (random).",
    },
    {
      key: "backend",
      at: "endpoint.backend",
      kind: "text",
      choices: ["tensorrtllm", "vllm"],
      about: "The model's backend in Triton; only for type kserve.",
    },
    { key: "custom", at: "endpoint.path", kind: "text", about: "Path to post to instead of the one the type has." },
    {
      key: "type",
      at: "endpoint.type",
      kind: "text",
      choices: Object.keys(ENDPOINT_TYPES),
      about: `The API to speak. One of:\n${wrapNames(Object.keys(ENDPOINT_TYPES))}`,
    },
    { key: "streaming", at: "endpoint.isStreaming", kind: "boolean", about: "Ask for answers token by token." },
    {
      key: "server_metrics_urls",
      alias: "server_metrics_url",
      at: "endpoint.serverMetricsUrls",
      kind: "texts",
      about: "Where the servers tell their metrics; a list, or separated by commas.",
    },
    { key: "url", at: "endpoint.url", kind: "text", about: "The server." },
    {
      key: "grpc_method",
      at: "endpoint.grpcMethod",
      kind: "text",
      about: "Method to call, <package>.<service>/<method>; only for type dynamic_grpc.",
    },
  ],
};

const PERF_ANALYZER: FieldGroup = {
  key: "perf_analyzer",
  label: "perf_analyzer",
  entries: [
    {
      key: "path",
      at: "perfAnalyzer.executable",
      kind: "path",
      about: "The original's load generator. Rampart has its own and ignores this.",
    },
    { key: "verbose", at: "perfAnalyzer.isVerbose", kind: "boolean", about: "Show each measurement window." },
    {
      key: "stimulus",
      at: "perfAnalyzer.stimulus",
      kind: "stimulus",
      choices: ["concurrency", "request_rate", "session_concurrency", "fixed_schedule"],
      about:
        "The load, one of:\n  concurrency: requests outstanding at any time\n  request_rate: requests per second\n" +
        "  session_concurrency: conversations at the same time\n  fixed_schedule: the time stamps of a payload file",
    },
    {
      key: "stability_percentage",
      at: "perfAnalyzer.stabilityPct",
      kind: "decimal",
      min: 1,
      max: 999,
      about: "How far throughput and latency of three windows may differ, in percent.\n999 takes any three.",
    },
    {
      key: "measurement",
      label: "perf_analyzer_measurement",
      entries: [
        {
          key: "mode",
          at: "perfAnalyzer.measurement.mode",
          kind: "text",
          choices: ["request_count", "interval"],
          about: "Measure a number of requests (request_count) or time windows (interval).",
        },
        {
          key: "num",
          at: "perfAnalyzer.measurement.num",
          kind: "integer",
          min: 0,
          note: "If left unset, the default value will be inferred based on the mode.",
          about:
            "Requests, or milliseconds of one window.\nLeft empty: twice the concurrency but at least 10 requests; 10000 ms.",
        },
      ],
    },
    {
      key: "warmup_request_count",
      at: "perfAnalyzer.warmupRequests",
      kind: "integer",
      min: 0,
      about: "Requests sent first that are not measured.",
    },
  ],
};

const AUDIO: FieldGroup = {
  key: "audio",
  label: "audio",
  entries: [
    {
      key: "batch_size",
      at: "input.audio.batchSize",
      kind: "integer",
      min: 0,
      about: "Audio clips in a request (type multimodal).",
    },
    spread("length", "audio_length", "input.audio.lengthSec", "a clip's length in seconds"),
    { key: "format", at: "input.audio.format", kind: "text", choices: ["wav", "mp3"], about: "wav or mp3." },
    {
      key: "depths",
      at: "input.audio.depthsBits",
      kind: "integers",
      min: 1,
      about: "Bits of a sample; one of these is drawn for each clip.",
    },
    {
      key: "sample_rates",
      at: "input.audio.sampleRatesKhz",
      kind: "decimals",
      min: 1,
      about: "Sample rates in kHz; one of these is drawn for each clip.",
    },
    { key: "num_channels", at: "input.audio.channels", kind: "integer", choices: [1, 2], about: "1 mono, 2 stereo." },
  ],
};

const IMAGE: FieldGroup = {
  key: "image",
  label: "image",
  entries: [
    spread("width", "image_width", "input.image.widthPx", "an image's width in pixels"),
    spread("height", "image_height", "input.image.heightPx", "an image's height in pixels"),
    {
      key: "batch_size",
      at: "input.image.batchSize",
      kind: "integer",
      min: 0,
      about: "Images in a request (types image_retrieval, multimodal, nvclip).",
    },
    {
      key: "format",
      at: "input.image.format",
      kind: "text",
      choices: ["png", "jpeg"],
      about: "png or jpeg.",
    },
  ],
};

const SESSIONS: FieldGroup = {
  key: "sessions",
  label: "sessions",
  entries: [
    { key: "num", at: "input.sessions.count", kind: "integer", min: 0, about: "Conversations to make up." },
    spread("turns", "turns", "input.sessions.turns", "the turns of a conversation"),
    {
      key: "turn_delay",
      label: "turn_delay",
      entries: [
        {
          key: "mean",
          at: "input.sessions.turnDelay.meanMs",
          kind: "integer",
          min: 0,
          about: "Mean pause between turns in milliseconds.",
        },
        {
          key: "ratio",
          at: "input.sessions.turnDelay.ratio",
          kind: "decimal",
          min: 0,
          about: "Factor for the pauses in a payload file.",
        },
        {
          key: "stddev",
          at: "input.sessions.turnDelay.stddevMs",
          kind: "integer",
          min: 0,
          about: "Standard deviation of the pause in milliseconds.",
        },
      ],
    },
  ],
};

const OUTPUT_TOKENS: FieldGroup = {
  key: "output_tokens",
  label: "output_tokens",
  entries: [
    {
      key: "mean",
      at: "input.outputTokens.mean",
      kind: "integer",
      min: 0,
      about: "Mean of the answer's length in tokens.\nLeft empty: the server decides.",
    },
    {
      key: "deterministic",
      at: "input.outputTokens.isDeterministic",
      kind: "boolean",
      about: "Ask for no fewer tokens than drawn (Triton and TensorRT-LLM engine).",
    },
    {
      key: "stddev",
      at: "input.outputTokens.stddev",
      kind: "decimal",
      min: 0,
      about: "Standard deviation of the answer's length in tokens.",
    },
  ],
};

const INPUT: FieldGroup = {
  key: "input",
  label: "input",
  entries: [
    {
      key: "batch_size",
      at: "input.textBatchSize",
      kind: "integer",
      min: 1,
      about: "Texts in a request (types embeddings and rankings).",
    },
    { key: "extra", at: "input.extra", kind: "object", about: "Fields for every request body, as name: value." },
    {
      key: "goodput",
      at: "input.goodput",
      kind: "goodput",
      about:
        "Limits that a good request keeps, as metric: value\n(milliseconds, or tokens per second for throughput), for example:\n  request_latency: 300",
    },
    { key: "header", at: "input.headers", kind: "headers", about: "HTTP headers, as a list of Name:Value." },
    {
      key: "file",
      at: "input.file",
      kind: "file",
      about:
        'Where prompts come from; left empty they are made up.\n  a JSONL file or a folder of them, with lines such as {"text": "…"}\n' +
        "  synthetic:queries,passages  files of these names are made up\n  payload:trace.jsonl  requests with times, lengths or sessions",
    },
    {
      key: "num_dataset_entries",
      at: "input.datasetEntries",
      kind: "integer",
      min: 1,
      about: "Different requests to make; they are sent over and over.",
    },
    { key: "random_seed", at: "input.randomSeed", kind: "integer", about: "The same seed makes the same requests." },
    AUDIO,
    IMAGE,
    OUTPUT_TOKENS,
    spread("synthetic_tokens", "synthetic_tokens", "input.syntheticTokens", "the made-up prompt's length in tokens"),
    {
      key: "prefix_prompt",
      label: "prefix_prompt",
      entries: [
        {
          key: "num",
          at: "input.prefixPrompt.count",
          kind: "integer",
          min: 0,
          about: "Different prefixes put before prompts, to meet a server's KV cache.",
        },
        { key: "length", at: "input.prefixPrompt.tokens", kind: "integer", min: 0, about: "Tokens of a prefix." },
      ],
    },
    SESSIONS,
  ],
};

const OUTPUT: FieldGroup = {
  key: "output",
  label: "output",
  entries: [
    { key: "artifact_directory", at: "output.artifactDir", kind: "path", about: "Folder for all results." },
    {
      key: "checkpoint_directory",
      at: "output.checkpointDir",
      kind: "path",
      about: "Folder for what lets a stopped sweep go on.",
    },
    {
      key: "profile_export_file",
      at: "output.profileExportFile",
      kind: "path",
      about:
        "File for the measured requests; the results are named after it:\nx.json gives x_genai_perf.json and x_genai_perf.csv.",
    },
    { key: "generate_plots", at: "output.isPlotting", kind: "boolean", about: "Draw plots." },
    {
      key: "enable_checkpointing",
      at: "output.isCheckpointing",
      kind: "boolean",
      about: "Keep what is measured, and measure nothing twice.",
    },
  ],
};

const TOKENIZER: FieldGroup = {
  key: "tokenizer",
  label: "tokenizer",
  entries: [
    {
      key: "name",
      at: "tokenizer.name",
      kind: "text",
      note: "By default this is the model's name",
      about: "A folder with tokenizer.json, or a name on the hub.\nLeft empty: the model's name.",
    },
    { key: "revision", at: "tokenizer.revision", kind: "text", about: "Branch, tag or commit on the hub." },
    {
      key: "trust_remote_code",
      at: "tokenizer.isTrustingRemoteCode",
      kind: "boolean",
      about: "Let a tokenizer bring its own program. Rampart runs none and refuses true.",
    },
  ],
};

/** All of a file. */
export const FIELDS: readonly (Field | FieldGroup)[] = [
  {
    key: "model_names",
    alias: "model_name",
    at: "modelNames",
    kind: "texts",
    isRequired: true,
    about: "The models to measure; a list, or separated by commas.",
  },
  {
    key: "analyze",
    at: "analyze.sweeps",
    kind: "sweeps",
    isCommented: true,
    note:
      "Uncomment the lines below to enable the analyze subcommand\n# For further details see analyze.md\n" +
      "  concurrency:\n    start: 1\n    stop: 1024",
  },
  ENDPOINT,
  PERF_ANALYZER,
  INPUT,
  OUTPUT,
  TOKENIZER,
  {
    key: "process",
    label: "process",
    entries: [
      {
        key: "input_path",
        at: "process.inputDir",
        kind: "path",
        isCommented: true,
        note: "Uncomment the lines below to enable the process-export-files subcommand\n  input_path: ",
      },
    ],
  },
  OWN_FIELDS,
];

/** The field of a setting; undefined for settings that no file can give. */
export function fieldOf(at: SettingPath): Field | undefined {
  return walkFields(FIELDS).find((field) => field.at === at);
}

/** The fields of a table in order. */
export function walkFields(entries: readonly (Field | FieldGroup)[]): Field[] {
  return entries.flatMap((entry) => (isGroup(entry) ? walkFields(entry.entries) : [entry]));
}

function wrapNames(names: readonly string[]): string {
  const half = Math.ceil(names.length / 2);
  return `  ${names.slice(0, half).join(", ")},\n  ${names.slice(half).join(", ")}`;
}
