import { DEFAULT_STALL_TIMEOUT_MS, DEFAULT_WINDOWS } from "../../plan/defaults.ts";
import type { ClientPlan, FailuresPlan, OutputsPlan, TlsPlan, TritonTargetPlan } from "../../plan/plan.ts";
import { DEFAULT_SEQUENCES, type SequencesPlan } from "../../plan/sequences.ts";
import { DEFAULT_METRICS_INTERVAL_MS, NO_TRACE, type TracePlan } from "../../plan/telemetry.ts";
import { DEFAULT_TLS } from "../../plan/tls.ts";
import { DEFAULT_TRITON_TARGET } from "../../plan/triton-target.ts";

/** A `start:end:step` triple; parts not given are undefined. */
export interface RangeValue {
  readonly start: number;
  readonly end?: number | undefined;
  readonly step?: number | undefined;
}

/** Concurrency where no load is given. */
export const ONE_REQUEST: RangeValue = { start: 1 };

/** What a command line says, beginning with perf_analyzer's defaults. Parts that a Plan has too stand as they do there. */
export class Settings {
  /** The first names of the options that were given. */
  given: ReadonlySet<string> = new Set();

  serviceKind: "triton" | "openai" = "triton";
  /** The path that payloads go to; empty: not given. */
  endpoint = "";
  /** Without a URL the protocol decides. */
  target: Omit<TritonTargetPlan, "url" | "tls"> & { readonly url?: string } = {
    protocol: "http",
    model: "",
    ...DEFAULT_TRITON_TARGET,
  };
  /** What the `--ssl-grpc-…` options say. */
  sslGrpc: TlsPlan = DEFAULT_TLS;
  /** What the `--ssl-https-…` options say. */
  sslHttps: TlsPlan = DEFAULT_TLS;

  concurrency?: RangeValue;
  requestRate?: RangeValue;
  distribution: "constant" | "poisson" = "constant";
  intervalsFile?: string;
  isFixedSchedule = false;
  periodic?: { readonly start: number; readonly end: number; readonly step: number };
  periodResponses = 10;
  sessionConcurrency?: number;
  sequences: SequencesPlan = DEFAULT_SEQUENCES;

  measurementMode: "time_windows" | "count_windows" = "time_windows";
  requestCount?: number;
  measurement = {
    mode: { ...DEFAULT_WINDOWS, requestsPerWindow: 50 },
    warmupRequests: 0,
    percentile: null as number | null,
    latencyLimitMs: null as number | null,
  };
  isBinarySearch = false;

  isAsync = false;
  isSync = false;
  maxThreads?: number;
  client: Omit<ClientPlan, "callMode" | "maxLanes"> = {
    kind: "own",
    stallTimeoutMs: DEFAULT_STALL_TIMEOUT_MS,
    isMpi: false,
  };
  failures: FailuresPlan = { maxRatio: 0 };

  /** `zero`, or paths; empty: random. */
  inputData: readonly string[] = [];
  inputs = { stringLength: 128, stringData: "" };

  isCollectingMetrics = false;
  /** Undefined: where a Triton has them. */
  metricsUrl?: string;
  metricsIntervalMs = DEFAULT_METRICS_INTERVAL_MS;
  telemetry: { readonly trace: TracePlan } = { trace: NO_TRACE };

  outputs: OutputsPlan = {
    style: "perf_analyzer",
    verbosity: 0,
    files: {},
    isVerboseCsv: false,
  };

  isDryRun = false;
  isHelp = false;
  isVersion = false;
}

/** Whether requests are payloads instead of tensors. */
export function takesPayloads({ serviceKind }: Settings): boolean {
  return serviceKind === "openai";
}
