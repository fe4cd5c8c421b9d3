import type { LevelsPlan } from "../../plan/load-plan.ts";
import type { Plan, TlsPlan } from "../../plan/plan.ts";
import { DEFAULT_SEQUENCES } from "../../plan/sequences.ts";
import { DEFAULT_METRICS_INTERVAL_MS } from "../../plan/telemetry.ts";
import { EMBEDDED_LLM, EMBEDDED_MODEL } from "../../service/embedded/target.ts";
import { defaultMetricsUrl } from "../../telemetry/metrics-url.ts";

/** From a plan to the flags of perf_analyzer mode that do the same. */

/** The flags, and in one sentence each what they cannot say. */
export interface FlagsFromPlan {
  readonly args: readonly string[];
  readonly notes: readonly string[];
}

/** What the flags are by default. */
const DEFAULTS = {
  outputSharedMemoryBytes: 102_400,
  stringLength: 128,
  maxTrials: 10,
  stallTimeoutMs: 60_000,
} as const;

/** Writes a plan as flags. An embedded target has none: its address is that of `rampart mock` with its default ports. */
export function toFlags(plan: Plan): FlagsFromPlan {
  const notes: string[] = [];
  const args = [
    ...targetFlags(plan, notes),
    ...loadFlags(plan, notes),
    ...sequenceFlags(plan),
    ...inputFlags(plan, notes),
    ...telemetryFlags(plan),
    ...measurementFlags(plan, notes),
    ...clientFlags(plan),
  ];
  if (plan.cancellation !== undefined) notes.push("flags do not give up requests");
  if (plan.assertions.length > 0) notes.push("assertions are a scenario's alone");
  return { args, notes };
}

function targetFlags({ target, client }: Plan, notes: string[]): string[] {
  const isGrpc = target.protocol === "grpc";
  const path = target.kind === "openai" ? target.endpoint : target.kind === "embedded" ? target.llmPath : undefined;
  const embeddedModel = path === undefined ? EMBEDDED_MODEL : EMBEDDED_LLM;
  const args = ["-m", target.kind === "embedded" ? embeddedModel : target.model];
  if (isGrpc) args.push("-i", "grpc");
  const preset = isGrpc ? "localhost:8001" : "localhost:8000";
  if (target.kind === "triton") {
    const isSecure = !isGrpc && target.tls.isEnabled && !target.url.includes("://");
    if (isSecure) args.push("-u", `https://${target.url}`);
    else if (target.url !== preset) args.push("-u", target.url);
    if ((target.moreUrls ?? []).length > 0) notes.push("flags name one server");
    if (target.modelVersion !== "") args.push("-x", target.modelVersion);
    for (const [name, sizes] of Object.entries(target.shapes)) args.push("--shape", `${name}:${sizes.join(",")}`);
    if (target.sharedMemory !== "none") args.push("--shared-memory", target.sharedMemory);
    if (target.outputSharedMemoryBytes !== DEFAULTS.outputSharedMemoryBytes)
      args.push("--output-shared-memory-size", String(target.outputSharedMemoryBytes));
    for (const [name, value] of target.headers) args.push("-H", `${name}: ${value}`);
    for (const [name, { type, value }] of Object.entries(target.parameters))
      args.push("--request-parameter", `${name}:${value}:${type}`);
    args.push(...unless("none", "--grpc-compression-algorithm", target.compression));
    if (target.composingModels.length > 0)
      args.push(
        "--bls-composing-models",
        target.composingModels.map(({ name, version }) => (version === "" ? name : `${name}:${version}`)).join(),
      );
    if (target.inputTensorFormat !== "binary") args.push("--input-tensor-format", target.inputTensorFormat);
    if (target.outputTensorFormat !== "binary") args.push("--output-tensor-format", target.outputTensorFormat);
    args.push(...(isGrpc ? grpcTlsFlags(target.tls, notes) : httpsFlags(target.tls)));
  }
  if (target.kind === "openai") {
    if (target.url !== preset) args.push("-u", target.url);
    for (const [name, value] of target.headers) args.push("-H", `${name}: ${value}`);
    if (target.apiKeyEnv !== undefined)
      notes.push(`the API key goes into -H: "Authorization: Bearer $${target.apiKeyEnv}"`);
    args.push(...httpsFlags(target.tls));
  }
  if (path !== undefined) {
    args.push("--service-kind", "openai", "--endpoint", path);
    // Payloads are sent asynchronously only; a plan may leave it open.
    if (client.callMode === "auto" && !target.isStreaming) args.push("--async");
  }
  if (target.batchSize !== 1) args.push("-b", String(target.batchSize));
  if (target.isStreaming) args.push("--streaming");
  return args;
}

function grpcTlsFlags(tls: TlsPlan, notes: string[]): string[] {
  if (!tls.isEnabled) return [];
  if (!tls.verifyPeer || !tls.verifyHost) notes.push("accepting any certificate with gRPC is a scenario's alone");
  return [
    "--ssl-grpc-use-ssl",
    ...unless("", "--ssl-grpc-root-certifications-file", tls.caFile),
    ...unless("", "--ssl-grpc-certificate-chain-file", tls.certFile),
    ...unless("", "--ssl-grpc-private-key-file", tls.keyFile),
  ];
}

function httpsFlags(tls: TlsPlan): string[] {
  return [
    ...unless("", "--ssl-https-ca-certificates-file", tls.caFile),
    ...unless("", "--ssl-https-client-certificate-file", tls.certFile),
    ...unless("PEM", "--ssl-https-client-certificate-type", tls.certType),
    ...unless("", "--ssl-https-private-key-file", tls.keyFile),
    ...unless("PEM", "--ssl-https-private-key-type", tls.keyType),
    ...(tls.verifyPeer ? [] : ["--ssl-https-verify-peer", "0"]),
    ...(tls.verifyHost ? [] : ["--ssl-https-verify-host", "0"]),
  ];
}

function unless(preset: string, flag: string, value: string): string[] {
  return value === preset ? [] : [flag, value];
}

function loadFlags({ load, client, target }: Plan, notes: string[]): string[] {
  const args: string[] = [];
  if (load.kind === "concurrency") {
    args.push("--concurrency-range", formatLevels(load.levels, notes));
    if (load.rampMs !== undefined) notes.push("concurrency that changes over time is a scenario's alone");
  }
  if (load.kind === "request-rate") {
    args.push("--request-rate-range", formatLevels(load.levels, notes));
    if (load.distribution === "poisson") args.push("--request-distribution", load.distribution);
    if (load.distribution === "gamma" || load.maxOutstanding !== undefined || load.ramp !== undefined)
      notes.push(
        "gamma-distributed gaps, a limit of requests outstanding and a rate that changes are a scenario's alone",
      );
  }
  if (load.kind === "intervals") args.push("--request-intervals", load.file);
  if (load.kind === "concurrency-ramp") {
    args.push("--concurrency-range", String(Math.max(load.start, load.end)));
    notes.push("concurrency that changes over time is a scenario's alone");
  }
  if ("search" in load && load.search === "binary") args.push("--binary-search");
  if (load.kind === "fixed-schedule") {
    args.push("--fixed-schedule");
    if (load.part !== undefined) notes.push("a part of a schedule, and another speed, are a scenario's alone");
  }
  if (load.kind === "session-concurrency") args.push("--session-concurrency", String(load.concurrency));
  if (load.kind === "periodic-concurrency") {
    const { start, end, step, periodResponses } = load;
    args.push("--periodic-concurrency-range", `${start}:${end}:${step}`, "--request-period", String(periodResponses));
    notes.push("--periodic-concurrency-range needs a --profile-export-file");
  }
  // Streams are asynchronous by themselves.
  if (client.callMode !== "auto" && !target.isStreaming) args.push(`--${client.callMode}`);
  return args;
}

function sequenceFlags({ sequences }: Plan): string[] {
  const { length, lengthVariationPct, startId, idCount, concurrent, isSerial } = sequences;
  const ids = idCount === null ? String(startId) : `${startId}:${startId + idCount}`;
  return [
    ...(length === null ? [] : ["--sequence-length", String(length)]),
    ...unless(String(DEFAULT_SEQUENCES.lengthVariationPct), "--sequence-length-variation", String(lengthVariationPct)),
    ...unless(String(DEFAULT_SEQUENCES.startId), "--sequence-id-range", ids),
    ...unless(String(DEFAULT_SEQUENCES.concurrent), "--num-of-sequences", String(concurrent)),
    ...(isSerial ? ["--serial-sequences"] : []),
  ];
}

function inputFlags({ inputs }: Plan, notes: string[]): string[] {
  if (inputs.kind === "prompts") {
    notes.push("made-up prompts are a scenario's alone: perf_analyzer's flags take a file of payloads");
    return ["--input-data", "payloads.json"];
  }
  if (inputs.kind === "json") return inputs.files.flatMap((file) => ["--input-data", file]);
  if (inputs.kind === "directory") return ["--input-data", inputs.directory];
  if (inputs.kind === "payloads")
    return [inputs.file, ...(inputs.moreFiles ?? [])].flatMap((file) => ["--input-data", file]);
  const args = inputs.kind === "zero" ? ["--input-data", "zero"] : [];
  if (inputs.stringLength !== DEFAULTS.stringLength) args.push("--string-length", String(inputs.stringLength));
  if (inputs.stringData !== "") args.push("--string-data", inputs.stringData);
  return args;
}

function telemetryFlags({ telemetry: { metrics, trace }, target }: Plan): string[] {
  const args: string[] = [];
  if (metrics !== null) {
    args.push("--collect-metrics");
    if (target.kind === "embedded" || metrics.url !== defaultMetricsUrl(target.url))
      args.push("--metrics-url", metrics.url);
    if (metrics.intervalMs !== DEFAULT_METRICS_INTERVAL_MS)
      args.push("--metrics-interval", String(Math.max(1, Math.round(metrics.intervalMs))));
  }
  for (const level of trace?.levels ?? []) args.push("--trace-level", level);
  for (const [flag, value] of [
    ["--trace-file", trace?.file],
    ["--trace-rate", trace?.rate],
    ["--trace-count", trace?.count],
    ["--log-frequency", trace?.logFrequency],
  ] as const) {
    if (value !== undefined && value !== null) args.push(flag, String(value));
  }
  return args;
}

function formatLevels(levels: LevelsPlan, notes: string[]): string {
  if (levels.kind === "range") return [levels.start, levels.end ?? 0, levels.step].join(":");
  if (levels.values.length > 1) notes.push(`run it for each of the levels ${levels.values.join(", ")}`);
  return String(levels.values[0]);
}

function measurementFlags({ load, measurement }: Plan, notes: string[]): string[] {
  const { mode, warmupRequests, percentile, latencyLimitMs } = measurement;
  const args: string[] = [];
  if (mode.kind === "time-windows") args.push("-p", String(mode.windowMs));
  if (mode.kind === "count-windows") {
    args.push("--measurement-mode", "count_windows", "--measurement-request-count", String(mode.requestsPerWindow));
  }
  if ("stabilityPct" in mode) args.push("-s", String(mode.stabilityPct));
  if ("maxTrials" in mode && mode.maxTrials !== DEFAULTS.maxTrials) args.push("-r", String(mode.maxTrials));
  const isRange = "levels" in load && load.levels.kind === "range" && load.levels.start !== load.levels.end;
  if (mode.kind === "requests" && !isRange && mode.count !== null && load.kind !== "periodic-concurrency")
    args.push("--request-count", String(mode.count));
  if (mode.kind === "requests" && isRange) notes.push("flags count requests at a single level only");
  if (mode.kind === "duration") {
    notes.push("flags measure until windows agree, not for a given time");
  }
  if (warmupRequests > 0) args.push("--warmup-request-count", String(warmupRequests));
  if ((measurement.warmupMs ?? 0) > 0) notes.push("flags warm up by a number of requests, not for a time");
  if (percentile !== null) args.push("--percentile", String(percentile));
  if (latencyLimitMs !== null) args.push("-l", String(latencyLimitMs));
  return args;
}

/** Flags that only Rampart has. */
function clientFlags({ client, failures }: Plan): string[] {
  const args: string[] = [];
  if (client.isMpi) args.push("--enable-mpi");
  if (client.kind !== "own") args.push("--client", client.kind);
  if (client.stallTimeoutMs !== DEFAULTS.stallTimeoutMs)
    args.push("--stall-timeout", String(client.stallTimeoutMs / 1000));
  if (client.requestTimeoutMs !== undefined) args.push("--request-timeout", String(client.requestTimeoutMs / 1000));
  if (client.maxResponseBytes !== undefined) args.push("--max-response-bytes", String(client.maxResponseBytes));
  if (failures.maxRatio !== null) args.push("--max-failure-ratio", String(failures.maxRatio));
  return args;
}
