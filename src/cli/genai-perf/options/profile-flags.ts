import { ORIGINAL_TYPE_NAMES, OWN_TYPE_NAMES } from "../endpoints.ts";
import type { FlagSection, GenaiFlag } from "./flags.ts";
import { AUDIO_FLAGS, IMAGE_FLAGS, INPUT_FLAGS, SESSION_FLAGS } from "./input-flags.ts";

/** The original's flags of `profile`, `analyze` and `config`, in its order; those of what is sent are in `input-flags.ts`. */

const ENDPOINT: readonly GenaiFlag[] = [
  { names: ["-m", "--model"], shape: "some", kind: "text", at: "modelNames", help: "The model or models to measure." },
  {
    names: ["--model-selection-strategy"],
    shape: "one",
    kind: "text",
    at: "endpoint.modelSelection",
    choices: ["round_robin", "random"],
    help: "How requests are shared among several models: in turn, or drawn evenly.",
  },
  {
    names: ["--backend"],
    shape: "one",
    kind: "text",
    at: "endpoint.backend",
    choices: ["tensorrtllm", "vllm"],
    help: "What runs the model inside Triton; only for the endpoint type kserve.",
  },
  {
    names: ["--endpoint"],
    shape: "one",
    kind: "text",
    at: "endpoint.path",
    default: "the path of the endpoint type",
    help: "Another path to post to.",
  },
  {
    names: ["--endpoint-type"],
    shape: "one",
    kind: "text",
    at: "endpoint.type",
    choices: ORIGINAL_TYPE_NAMES,
    ownChoices: OWN_TYPE_NAMES,
    help: "The API the server speaks. Rampart's own are written below.",
  },
  {
    names: ["--server-metrics-url", "--server-metrics-urls"],
    shape: "some",
    kind: "text",
    at: "endpoint.serverMetricsUrls",
    help: "Prometheus pages that are read while the run measures: DCGM exporters (GPUs) and inference servers. Tables with -v.",
  },
  {
    names: ["--streaming"],
    shape: "switch",
    kind: "text",
    at: "endpoint.isStreaming",
    help: "Ask for answers token by token. Needed for the token metrics.",
  },
  { names: ["-u", "--url"], shape: "one", kind: "text", at: "endpoint.url", metavar: "URL", help: "The server." },
];

/** In every subcommand. */
export const OTHER_SECTION: FlagSection = {
  group: "Other",
  flags: [
    {
      names: ["-v", "--verbose"],
      shape: "switch",
      kind: "text",
      at: "isVerbose",
      help: "Say more: what is done, metrics that GenAI-Perf lacks, and those of GPUs; in templates, comments.",
    },
  ],
};

/** In every subcommand that writes results. */
export const OUTPUT_SECTION: FlagSection = {
  group: "Output",
  flags: [
    {
      names: ["--artifact-dir"],
      shape: "one",
      kind: "text",
      at: "output.artifactDir",
      help: "Folder for all results; left out, a folder in ./artifacts named after model, endpoint and load.",
    },
    {
      names: ["--checkpoint-dir"],
      shape: "one",
      kind: "text",
      at: "output.checkpointDir",
      help: "Folder for what --enable-checkpointing keeps.",
    },
    {
      names: ["--generate-plots"],
      shape: "switch",
      kind: "text",
      at: "output.isPlotting",
      help: "Draw plots, into the folder plots beside the results.",
    },
    {
      names: ["--enable-checkpointing"],
      shape: "switch",
      kind: "text",
      at: "output.isCheckpointing",
      help: "Keep each result, so that a stopped sweep goes on where it was.",
    },
    {
      names: ["--profile-export-file"],
      shape: "one",
      kind: "text",
      at: "output.profileExportFile",
      help: "Name for the file of measured requests, without folders. Others follow it: x.json gives x_genai_perf.json, x_genai_perf.csv, and x_genai_perf_rampart.json with all metrics and counts.",
    },
  ],
};

const PROFILING: readonly GenaiFlag[] = [
  {
    names: ["--concurrency"],
    shape: "one",
    kind: "integer",
    excludes: "load",
    default: "1",
    help: "Requests outstanding at any time.",
  },
  {
    names: ["--measurement-interval", "-p"],
    shape: "one",
    kind: "integer",
    excludes: "measurement",
    unit: "milliseconds",
    help: "Measure windows of this length until three agree (see -s) instead of a number of requests.",
  },
  {
    names: ["--request-count", "--num-requests"],
    shape: "one",
    kind: "integer",
    excludes: "measurement",
    default: "twice the concurrency, at least 10",
    help: "How many requests to measure.",
  },
  {
    names: ["--request-rate"],
    shape: "one",
    kind: "decimal",
    excludes: "load",
    unit: "requests per second",
    help: "Send at this rate, however long answers take.",
  },
  {
    names: ["--fixed-schedule"],
    shape: "optional",
    kind: "text",
    excludes: "load",
    help: "Send each request of a payload file at its timestamp. Takes true or false; alone it means true.",
  },
  {
    names: ["-s", "--stability-percentage"],
    shape: "one",
    kind: "decimal",
    at: "perfAnalyzer.stabilityPct",
    unit: "percent",
    help: "How far throughput and latency of three windows may lie apart; 999 takes any three.",
  },
];

const TOKENIZER: readonly GenaiFlag[] = [
  {
    names: ["--tokenizer"],
    shape: "one",
    kind: "text",
    at: "tokenizer.name",
    default: "the model's name",
    help: "Counts tokens: a folder with tokenizer.json, a name on the Hugging Face hub, or none to take the server's counts only.",
  },
  {
    names: ["--tokenizer-revision"],
    shape: "one",
    kind: "text",
    at: "tokenizer.revision",
    help: "Branch, tag or commit on the hub.",
  },
  {
    names: ["--tokenizer-trust-remote-code"],
    shape: "switch",
    kind: "text",
    at: "tokenizer.isTrustingRemoteCode",
    help: "Refused: Rampart runs no program that a tokenizer brings. Give a folder with tokenizer.json instead.",
  },
];

/** Sections that `profile`, `analyze` and `config` share. */
export const PROFILE_SECTIONS: readonly FlagSection[] = [
  { group: "Audio Input", flags: AUDIO_FLAGS },
  { group: "Endpoint", flags: ENDPOINT },
  { group: "Image Input", flags: IMAGE_FLAGS },
  { group: "Input", flags: INPUT_FLAGS },
  OTHER_SECTION,
  OUTPUT_SECTION,
  { group: "Profiling", flags: PROFILING },
  { group: "Session", flags: SESSION_FLAGS },
  { group: "Tokenizer", flags: TOKENIZER },
];
