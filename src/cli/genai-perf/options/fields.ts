import { ENDPOINT_TYPES } from "../endpoints.ts";
import { type Field, type FieldGroup, isGroup } from "./field.ts";
import { INPUT_FIELDS } from "./input-fields.ts";
import { OWN_FIELDS } from "./own-fields.ts";
import type { SettingPath } from "./settings.ts";

/** The YAML file's keys as one table: reading, checking, the template and the exported configuration are made from it. */

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
        "File for the measured requests; the results are named after it:\nx.json gives x_genai_perf.json, x_genai_perf.csv and x_genai_perf_rampart.json.",
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
  INPUT_FIELDS,
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
