import { plotsFolder } from "../../../report/genai-perf/outputs.ts";
import { withValue } from "../../options/place.ts";
import type { Backend } from "../endpoint-formats.ts";
import { type EndpointTypeName, ORIGINAL_TYPE_NAMES, RAMPART_TYPE_NAMES } from "../endpoints.ts";
import { LOAD_NAMES, type Stimulus } from "../loads.ts";
import { type MeasuredIn, readMeasurement } from "./flag-readers.ts";
import { holds, inGroup, type Land, lands } from "./genai-option.ts";
import { SWEEP_DEFAULT_TEXT, SWEEP_FLAG_TYPES, SWEEPS, type Sweep } from "./sweeps.ts";

/** GenAI-Perf's other options, in the order of its flags. */

/** Default addresses of metrics: DCGM's exporter on this host. */
const METRICS_URLS: readonly string[] = ["http://localhost:9400/metrics"];

/** An empty list means the default, like in GenAI-Perf. */
function toUrls(urls: readonly string[]): readonly string[] {
  return urls.length === 0 ? METRICS_URLS : [...new Set(urls.map((url) => url.trim()))];
}

const landPlots: Land<boolean> = (plan, isPlotting) => {
  if (!isPlotting) return plan;
  const landed = withValue(plan, "outputs.files.plots", plotsFolder(plan.outputs.genaiPerf?.folder ?? ""));
  return withValue(landed, "measurement.tokens.wantsGaps", true);
};

/** Options of the endpoint. */
export const ENDPOINT_OPTIONS = inGroup("Endpoint", [
  {
    names: ["-m", "--model"],
    key: "model_names",
    alias: "model_name",
    ...lands<readonly string[]>("texts", "requests.layout.models", []),
    needsValue: true,
    help: "The model or models to measure.",
  },
  {
    names: ["--model-selection-strategy"],
    key: "endpoint.model_selection_strategy",
    ...lands("text", "requests.layout.modelSelection", "round_robin", { choices: ["round_robin", "random"] }),
    help: "How requests are shared among several models: in turn, or drawn evenly.",
  },
  {
    names: ["--backend"],
    key: "endpoint.backend",
    ...holds<Backend>("text", "tensorrtllm", { choices: ["tensorrtllm", "vllm"] }),
    help: "What runs the model inside Triton; only for the endpoint type kserve.",
  },
  {
    names: ["--endpoint"],
    key: "endpoint.custom",
    ...holds("text", ""),
    defaultText: "the path of the endpoint type",
    help: "Another path to post to.",
  },
  {
    names: ["--endpoint-type"],
    key: "endpoint.type",
    ...holds<EndpointTypeName>("text", "kserve", { choices: ORIGINAL_TYPE_NAMES }),
    ownChoices: RAMPART_TYPE_NAMES,
    help: "The API the server speaks.",
  },
  {
    names: ["--server-metrics-url", "--server-metrics-urls"],
    key: "endpoint.server_metrics_urls",
    alias: "server_metrics_url",
    ...lands("texts", "telemetry.scrapes.urls", METRICS_URLS, { convert: toUrls }),
    help: "Prometheus pages that are read while the run measures: DCGM exporters (GPUs) and inference servers. Tables with -v.",
  },
  {
    names: ["--streaming"],
    setting: "target.isStreaming",
    key: "endpoint.streaming",
    ...lands("boolean", ["requests.layout.isStreaming", "measurement.tokens.isStreamed"], false),
    help: "Ask for responses token by token. Needed for the token metrics.",
  },
  {
    names: ["-u", "--url"],
    setting: "target.url",
    key: "endpoint.url",
    ...lands("text", "target.url", "localhost:8001", { landsIfGiven: true, ifThere: true }),
    defaultText: "localhost:8001 for kserve and dynamic_grpc, otherwise localhost:8000",
    help: "The server.",
  },
]);

/** Options of all subcommands. */
export const OTHER_OPTIONS = inGroup("Other", [
  {
    names: ["-v", "--verbose"],
    ...lands("boolean", "outputs.genaiPerf.isVerbose", false),
    help: "Say more: what is done, metrics that GenAI-Perf lacks, and those of GPUs; in templates, comments.",
  },
]);

/** Options of all subcommands that write results. */
export const OUTPUT_OPTIONS = inGroup("Output", [
  {
    names: ["--artifact-dir"],
    setting: "outputs.folder",
    key: "output.artifact_directory",
    ...holds("path", "artifacts"),
    help: "Folder for all results; left out, a folder in ./artifacts named after model, endpoint and load.",
  },
  {
    names: ["--checkpoint-dir"],
    setting: "checkpoint.folder",
    key: "output.checkpoint_directory",
    ...holds("path", "checkpoint"),
    help: "Folder for what --enable-checkpointing keeps.",
  },
  {
    names: ["--generate-plots"],
    key: "output.generate_plots",
    ...lands("boolean", landPlots, false),
    help: "Draw plots, into the folder plots beside the results.",
  },
  {
    names: ["--enable-checkpointing"],
    key: "output.enable_checkpointing",
    ...holds("boolean", false),
    help: "Keep each result, so that a stopped sweep continues where it was.",
  },
  {
    names: ["--profile-export-file"],
    setting: "outputs.files.profileExport",
    key: "output.profile_export_file",
    ...holds("path", "profile_export.json"),
    help: "Name for the file of measured requests, without folders. Others follow it: x.json gives x_genai_perf.json, x_genai_perf.csv, and x_genai_perf_rampart.json, which is Rampart's report.",
  },
]);

/** Options of the load and of the amount to measure. */
export const PROFILING_OPTIONS = inGroup("Profiling", [
  {
    names: ["--concurrency"],
    kind: "integer",
    excludes: "load",
    defaultText: "1",
    help: "Requests in flight at any time.",
  },
  {
    names: ["--measurement-interval", "-p"],
    setting: "measurement.mode.windowMs",
    kind: "integer",
    excludes: "measurement",
    unit: "milliseconds",
    read: readMeasurement("interval"),
    help: "Measure windows of this length until three agree (see -s) instead of a number of requests.",
  },
  {
    names: ["--request-count", "--num-requests"],
    kind: "integer",
    excludes: "measurement",
    defaultText: "twice the concurrency, at least 10; of a payload file each request once",
    read: readMeasurement("request_count"),
    help: "How many requests to measure.",
  },
  {
    names: ["--request-rate"],
    kind: "decimal",
    excludes: "load",
    unit: "requests per second",
    help: "Send at this rate, however long responses take.",
  },
  {
    names: ["--fixed-schedule"],
    kind: "text",
    count: "optional",
    excludes: "load",
    help: "Send each request of a payload file at its timestamp. Takes true or false; alone it means true.",
  },
  {
    names: ["-s", "--stability-percentage"],
    setting: "measurement.mode.stabilityPct",
    key: "perf_analyzer.stability_percentage",
    ...lands("decimal", "measurement.mode.stabilityPct", 999, { min: 1, max: 999, unit: "percent", ifThere: true }),
    help: "How far throughput and latency of three windows may lie apart; 999 takes any three.",
  },
]);

/** Options of the tokenizer. */
export const TOKENIZER_OPTIONS = inGroup("Tokenizer", [
  {
    names: ["--tokenizer"],
    setting: "inputs.tokenizer",
    key: "tokenizer.name",
    ...lands("text", "measurement.tokens.tokenizer", "", { within: ["tokenizer.name"] }),
    note: "By default this is the model's name",
    defaultText: "the model's name",
    help: "Counts tokens: a folder with tokenizer.json, a name on the Hugging Face hub, or none to take the server's counts only.",
  },
  {
    names: ["--tokenizer-revision"],
    key: "tokenizer.revision",
    ...lands("text", "measurement.tokens.revision", "main"),
    help: "Branch, tag or commit on the hub.",
  },
  {
    names: ["--tokenizer-trust-remote-code"],
    key: "tokenizer.trust_remote_code",
    ...holds("boolean", false),
    help: "Refused: Rampart does not run code that comes with a tokenizer. Give a folder with tokenizer.json instead.",
  },
]);

/** Options of `config`: the file to run. */
export const CONFIG_OPTIONS = inGroup("Config", [
  { names: ["-f", "--file"], kind: "text", isRequired: true, help: "The YAML file to run." },
  {
    names: ["--override-config"],
    kind: "boolean",
    help: "Let the other flags of the command line win over the file; without it they are refused.",
  },
]);

/** Options of `create-template`: the file to write. */
export const TEMPLATE_OPTIONS = inGroup("Template", [
  {
    names: ["-f", "--file"],
    ...holds("text", "genai_perf_config.yaml"),
    help: "The YAML file to write; it must not exist.",
  },
]);

/** Options of `analyze`: the parameters to vary. */
export const ANALYZE_OPTIONS = inGroup("Analyze", [
  { names: ["--sweep-type"], kind: "text", choices: SWEEP_FLAG_TYPES, help: "What to vary." },
  {
    names: ["--sweep-range"],
    kind: "text",
    defaultText: SWEEP_DEFAULT_TEXT,
    help: "From where to where, as MIN:MAX, doubling, or as MIN:MAX:STEP.",
  },
  {
    names: ["--sweep-list"],
    kind: "text",
    help: "The values themselves, separated by commas. Wins over --sweep-range.",
  },
]);

/** Options of `process-export-files`. */
export const PROCESS_OPTIONS = inGroup("Process Export Files", [
  {
    names: ["--input-directory", "-d"],
    setting: "merge.folder",
    key: "process.input_path",
    value: "INPUT_PATH",
    count: "single",
    ...holds("path", "aggregated"),
    isCommented: true,
    note: "Uncomment the lines below to enable the process-export-files subcommand\n  input_path: ",
    help: "Folder with a folder for each host, which holds its profile export and JSON report.",
  },
]);

/** Keys in files that correspond to several flags, or to no flag. */
export const KEYS_WITHOUT_FLAG = inGroup("Other", [
  {
    key: "analyze",
    ...holds<readonly Sweep[]>("sweeps", [{ kind: "range", type: "concurrency", ...SWEEPS.concurrency }]),
    isCommented: true,
    note: "Uncomment the lines below to enable the analyze subcommand\n# For further details see analyze.md\n  concurrency:\n    start: 1\n    stop: 1024",
    help: "What to vary: each parameter with start, stop and step, or with a list of values.",
  },
  {
    key: "perf_analyzer.path",
    ...holds("path", "perf_analyzer"),
    help: "The original's load generator. Rampart has its own and ignores this.",
  },
  {
    key: "perf_analyzer.verbose",
    ...lands("boolean", "outputs.verbosity", false, { convert: Number }),
    help: "Also print each measurement as perf_analyzer does.",
  },
  {
    key: "perf_analyzer.stimulus",
    ...holds<Stimulus>("stimulus", { kind: "concurrency", value: 1 }, { choices: LOAD_NAMES }),
    help: "The load, with its number: requests in flight at any time, requests per second, or conversations at the same time. A fixed schedule, the timestamps of a payload file, has no number.",
  },
  {
    key: "perf_analyzer.measurement.mode",
    ...holds<MeasuredIn>("text", "request_count", { choices: ["request_count", "interval"] }),
    help: "Measure a number of requests or time windows.",
  },
  {
    key: "perf_analyzer.measurement.num",
    ...holds<number | null>("integer", null, { min: 0 }),
    note: "If left unset, the default value will be inferred based on the mode.",
    defaultText: "twice the concurrency but at least 10 requests; 10000 ms",
    help: "Requests, or milliseconds of one window.",
  },
]);
