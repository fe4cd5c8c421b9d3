import { join } from "node:path";
import { COMPATIBLE_BEHAVIOUR } from "../../../plan/behaviour.ts";
import type { CancellationPlan } from "../../../plan/cancellation.ts";
import { DEFAULT_STALL_TIMEOUT_MS } from "../../../plan/defaults.ts";
import type { InputsPlan, MeasurementPlan, OutputsPlan, Plan, TargetPlan } from "../../../plan/plan.ts";
import { DEFAULT_SEQUENCES } from "../../../plan/sequences.ts";
import { NO_TELEMETRY, type ScrapePlan } from "../../../plan/telemetry.ts";
import { DEFAULT_TLS } from "../../../plan/tls.ts";
import { secToMs } from "../../../plan/units.ts";
import { inputKindOf } from "../../../registry/input-kinds.ts";
import { loadModeOf } from "../../../registry/load-modes.ts";
import { targetKindOf } from "../../../registry/service-kinds.ts";
import { artifactFiles } from "../../../report/genai-perf/artifacts.ts";
import type { GenaiPerfPlan } from "../../../report/genai-perf/measured.ts";
import type { PlotFormat } from "../../../report/plot.ts";
import type { RequestForm } from "../../../service/service.ts";
import { DEFAULT_TRITON_TARGET } from "../../../service/triton/target.ts";
import { DEFAULT_TRITON_DIRECTORY } from "../../../service/triton-c-api/target.ts";
import { withValue } from "../../options/place.ts";
import { withPlanValues } from "../../options/shared-option.ts";
import { ENDPOINT_TYPES, endpointPath } from "../endpoints.ts";
import { isPayloadFile } from "../input-format.ts";
import { loadOf } from "../loads.ts";
import { defaultSettings, isDefault } from "../options/defaults.ts";
import type { GenaiOption } from "../options/genai-option.ts";
import { RAMPART_OPTIONS } from "../options/rampart-options.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { sharedValues } from "../options/shared-settings.ts";
import { toTokens } from "./response-rules.ts";
import { toInputConfig } from "./to-input-config.ts";

/** Converts settings to a plan. */

/** Names and values. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** Name of the file of requests in a run's folder. */
export const INPUTS_FILE = "inputs.json";

/** The file as inputs, by the form of a target's requests. */
const FILE_AS_INPUTS: Readonly<
  Record<Exclude<RequestForm, "mixed">, (file: string, order: { readonly isInOrder?: true }) => InputsPlan>
> = {
  payloads: (file, order) => ({ kind: "payloads", file, ...order }),
  messages: (file, order) => ({ kind: "messages", messageFiles: [file], entries: [], ...order }),
  tensors: (file, order) => ({ kind: "json", files: [file], ...order }),
};

/**
 * Returns the plan of one profile.
 * @param folder of its files
 * @param headers headers of every request: the user's and those of an API key
 */
export function toProfilePlan(settings: GenaiSettings, given: GivenSettings, folder: string, headers: Headers): Plan {
  const { input, modelNames, rampart } = settings;
  const { stimulus } = settings.perfAnalyzer;
  const target = toTarget(settings, given, headers);
  const measurement = toMeasurement(settings, given);
  // A fixed number of requests uses the first prompts, each once, so only these need to be created.
  const order = measurement.mode.kind === "requests" ? ({ isInOrder: true } as const) : {};
  const plan: Plan = {
    version: 1,
    name: modelNames[0] ?? "",
    target,
    load: loadOf(stimulus.kind).toPlan(stimulus.value ?? 1, input.randomSeed),
    sequences: DEFAULT_SEQUENCES,
    inputs: FILE_AS_INPUTS[targetKindOf(target).takes(target) as keyof typeof FILE_AS_INPUTS](
      join(folder, INPUTS_FILE),
      order,
    ),
    measurement,
    client: {
      kind: "own",
      callMode: "async",
      maxLanes: null,
      stallTimeoutMs: DEFAULT_STALL_TIMEOUT_MS,
      isMpi: false,
    },
    failures: { maxRatio: null },
    ...(rampart.cancelPct > 0 ? { cancellation: toCancellation(settings) } : {}),
    telemetry: { ...NO_TELEMETRY, scrapes: toScrapes(settings, given) },
    assertions: [],
    outputs: toOutputs(settings, given, folder),
    behaviour: COMPATIBLE_BEHAVIOUR,
  };
  return withPlanValues(landOwn(plan, settings), sharedValues(settings));
}

const OWN: readonly GenaiOption[] = RAMPART_OPTIONS;

/** Has Rampart's own options of genai-perf put their values into the plan. */
function landOwn(plan: Plan, settings: GenaiSettings): Plan {
  const { kind } = settings.perfAnalyzer.stimulus;
  const landing = OWN.filter(({ at, needs = kind }) => needs === kind && at !== undefined && !isDefault(settings, at));
  return landing.reduce((landed, { land }) => land?.(landed, settings) ?? landed, plan);
}

/** Returns a plan that sends a payload file once, with the number of its requests. */
export function withEntryCount(plan: Plan, entryCount: number): Plan {
  const { mode } = plan.measurement;
  const isOpen = mode.kind === "requests" && mode.count === null && loadModeOf(plan.load).requestCount === undefined;
  return isOpen ? withValue(plan, "measurement.mode.count", entryCount) : plan;
}

/**
 * Returns how many entries a plan sends, starting with the first. Later entries need not be created. A warm-up also starts with the first
 * entry. Undefined if the number is unknown before the run, or the data determines the load.
 */
export function neededEntries({ load, inputs, measurement, target }: Plan): number | undefined {
  const { mode, warmupRequests, warmupMs = 0 } = measurement;
  if (mode.kind !== "requests" || mode.count === null || warmupMs > 0) return undefined;
  const isInOrder = inputKindOf(inputs).isInOrder?.(inputs) === true;
  const loadMode = loadModeOf(load);
  const isCounted = loadMode.requestCount === undefined && loadMode.ramp?.(load)?.isWhole !== true;
  return isInOrder && isCounted ? Math.max(mode.count, warmupRequests) * target.batchSize : undefined;
}

function toCancellation({ input, rampart }: GenaiSettings): CancellationPlan {
  return { sharePct: rampart.cancelPct, delayMs: secToMs(rampart.cancelDelaySec), seed: input.randomSeed };
}

/** GenAI-Perf's interval. */
const SCRAPE_INTERVAL_MS = 330;

/** An empty list stands for the default, like in GenAI-Perf. */
function toScrapes(settings: GenaiSettings, given: GivenSettings): ScrapePlan {
  const at = "endpoint.serverMetricsUrls";
  const urls = settings.endpoint.serverMetricsUrls.map((url) => url.trim());
  return {
    urls: urls.length === 0 ? defaultSettings().endpoint.serverMetricsUrls : [...new Set(urls)],
    intervalMs: SCRAPE_INTERVAL_MS,
    isAsked: urls.length > 0 && (given.get(at)?.source === "flag" || !isDefault(settings, at)),
  };
}

/** perf_analyzer's default, which GenAI-Perf uses when no URL is given. */
const DEFAULT_HTTP_URL = "localhost:8000";

/** Returns the target of the measurement. @param headers headers of every request: the user's and those of an API key */
function toTarget(settings: GenaiSettings, given: GivenSettings, headers: Headers): TargetPlan {
  const { endpoint, modelNames, rampart } = settings;
  const { type, path, isStreaming } = endpoint;
  const more = rampart.moreUrls.length === 0 ? {} : { moreUrls: rampart.moreUrls };
  const model = modelNames[0] ?? "";
  if (ENDPOINT_TYPES[type].takesPayloads) {
    const base = { kind: "openai", protocol: "http", batchSize: 1, tls: DEFAULT_TLS } as const;
    const url = given.has("endpoint.url") ? endpoint.url : DEFAULT_HTTP_URL;
    return { ...base, url, ...more, endpoint: endpointPath(type, path, model), model, isStreaming, headers };
  }
  if (ENDPOINT_TYPES[type].callsMethod) {
    const base = { kind: "dynamic-grpc", protocol: "grpc", batchSize: 1, tls: DEFAULT_TLS } as const;
    const call = { method: endpoint.grpcMethod, protoFiles: [], importPaths: [], compression: "none" } as const;
    return { ...base, ...call, url: endpoint.url, ...more, model, isStreaming: false, headers };
  }
  if (ENDPOINT_TYPES[type].isInProcess) {
    const { batchSize, modelVersion, outputSharedMemoryBytes } = DEFAULT_TRITON_TARGET;
    // GenAI-Perf always lets a model send any number of responses. The folders come after `--`.
    const base = { kind: "triton-c-api", protocol: "grpc", isStreaming: true, sharedMemory: "none" } as const;
    const place = { directory: DEFAULT_TRITON_DIRECTORY, modelRepository: "" };
    const more = { batchSize, modelVersion, outputSharedMemoryBytes, shapes: {}, parameters: {}, composingModels: [] };
    return { ...base, ...place, ...more, model };
  }
  return {
    ...DEFAULT_TRITON_TARGET,
    url: endpoint.url,
    ...more,
    protocol: "grpc",
    model,
    isStreaming: true,
    headers,
    shapes: { text_input: [1], ...(endpoint.backend === "tensorrtllm" ? { max_tokens: [1] } : {}) },
  };
}

const DEFAULT_INTERVAL_MS = 10_000;
const MIN_REQUESTS = 10;
const MAX_TRIALS = 10;

function toMeasurement(settings: GenaiSettings, given: GivenSettings): MeasurementPlan {
  const { durationSec, gracePeriodSec, warmupSec } = settings.rampart;
  const mode: MeasurementPlan["mode"] =
    durationSec === null || isOverridden(given)
      ? toMode(settings)
      : { kind: "duration", durationMs: secToMs(durationSec), graceMs: secToMs(gracePeriodSec) };
  const { stimulus, warmupRequests } = settings.perfAnalyzer;
  return {
    mode,
    // Like GenAI-Perf, which never warms up with sessions. A warning says so.
    warmupRequests: loadOf(stimulus.kind).holdsSessions ? 0 : warmupRequests,
    ...(warmupSec === null || warmupSec === 0 ? {} : { warmupMs: secToMs(warmupSec) }),
    percentile: null,
    latencyLimitMs: null,
    tokens: toTokens(settings),
  };
}

/** Reports whether a file sets the duration and the command line asks for another measurement. */
function isOverridden(given: GivenSettings): boolean {
  const source = given.get("perfAnalyzer.measurement.num")?.source;
  return source === "flag" && given.get("rampart.durationSec")?.source !== "flag";
}

/** Like in GenAI-Perf, a payload file is sent once by default, and sessions always run once. {@link withEntryCount} completes the former. */
function toMode(settings: GenaiSettings): MeasurementPlan["mode"] {
  const { measurement, stimulus, stabilityPct } = settings.perfAnalyzer;
  const { sendsOnce, isInFlight } = loadOf(stimulus.kind);
  if (sendsOnce) return { kind: "requests", count: null };
  if (measurement.mode === "interval") {
    const windowMs = measurement.num ?? DEFAULT_INTERVAL_MS;
    return { kind: "time-windows", windowMs, stabilityPct, maxTrials: MAX_TRIALS };
  }
  if (measurement.num !== null) return { kind: "requests", count: measurement.num };
  if (isPayloadFile(settings)) return { kind: "requests", count: null };
  return { kind: "requests", count: Math.max(MIN_REQUESTS, isInFlight ? 2 * (stimulus.value ?? 1) : 0) };
}

/** Returns what a profile prints and writes. @param folder of its files */
function toOutputs(settings: GenaiSettings, given: GivenSettings, folder: string): OutputsPlan {
  const { output, perfAnalyzer } = settings;
  const { plots, ...files } = artifactFiles(folder, output.profileExportFile);
  return {
    style: "genai-perf",
    verbosity: perfAnalyzer.isVerbose ? 1 : 0,
    files: {
      ...files,
      ...(output.isPlotting ? { plots } : {}),
    },
    genaiPerf: toReportsPlan(settings, given),
    isVerboseCsv: false,
    isLive: false,
  };
}

/** Returns what the reports say about a run besides its results. */
export function toReportsPlan(settings: GenaiSettings, given: GivenSettings): GenaiPerfPlan {
  const { endpoint, input, isVerbose, modelNames, rampart } = settings;
  const { title = endpoint.type, usesTemplate } = ENDPOINT_TYPES[endpoint.type];
  return {
    models: modelNames,
    endpointType: endpoint.type,
    ...(usesTemplate ? {} : { titledType: title }),
    isStreaming: endpoint.isStreaming,
    ...(input.goodput === null ? {} : { goodput: input.goodput }),
    inputConfig: toInputConfig(settings, given),
    plotFormats: rampart.plotFormats as PlotFormat[],
    isSynthetic: input.file === "",
    isVerbose,
  };
}
