import { DEFAULT_STALL_TIMEOUT_MS, DEFAULT_WINDOWS } from "../../plan/defaults.ts";
import type { ClientPlan, FailuresPlan, OutputsPlan } from "../../plan/plan.ts";
import { DEFAULT_SEQUENCES, type SequencesPlan } from "../../plan/sequences.ts";
import { DEFAULT_METRICS_INTERVAL_MS, NO_TRACE, type TracePlan } from "../../plan/telemetry.ts";
import { DEFAULT_TLS, type TlsPlan } from "../../plan/tls.ts";
import { DEFAULT_TF_SERVING_TARGET } from "../../service/tfserving/target.ts";
import { DEFAULT_TRITON_TARGET, type TritonTargetPlan } from "../../service/triton/target.ts";
import { DEFAULT_TRITON_DIRECTORY } from "../../service/triton-c-api/target.ts";

/** A `start:end:step` triple. Parts that are not given are undefined. */
export interface RangeValue {
  readonly start: number;
  readonly end?: number | undefined;
  readonly step?: number | undefined;
}

/** Concurrency without a given load. */
export const ONE_REQUEST: RangeValue = { start: 1 };

/** The settings of a command line, initially perf_analyzer's defaults. Parts that a Plan also has are at the same paths. */
export class Settings {
  /** First names of the given options. */
  given: ReadonlySet<string> = new Set();

  /** A key of the table of service kinds. */
  serviceKind = "triton";
  /** The path for payloads; empty: not given. */
  endpoint = "";
  /** Method of a gRPC service, `package.Service/Method`; empty: not given. */
  grpcMethod = "";
  /** `.proto` files that describe it; empty: the server's reflection does. */
  protoFiles: readonly string[] = [];
  importPaths: readonly string[] = [];
  /** The signature of a TensorFlow Serving model. */
  signatureName = DEFAULT_TF_SERVING_TARGET.signatureName;
  /** Without a URL, the protocol determines it. */
  target: Omit<TritonTargetPlan, "url" | "tls"> & {
    readonly url?: string;
    /** Triton's installation and models, when its library is measured in process. */
    readonly directory: string;
    readonly modelRepository: string;
  } = {
    directory: DEFAULT_TRITON_DIRECTORY,
    modelRepository: "",
    protocol: "http",
    model: "",
    ...DEFAULT_TRITON_TARGET,
  };
  /** Values of the `--ssl-grpc-…` options. */
  sslGrpc: TlsPlan = DEFAULT_TLS;
  /** Values of the `--ssl-https-…` options. */
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

  /** Values of `--input-data`, which input-data.ts interprets; empty: random. */
  inputData: readonly string[] = [];
  inputs = { stringLength: 128, stringData: "" };

  isCollectingMetrics = false;
  /** Undefined: Triton's default. */
  metricsUrl?: string;
  metricsIntervalMs = DEFAULT_METRICS_INTERVAL_MS;
  telemetry: { readonly trace: TracePlan } = { trace: NO_TRACE };

  outputs: OutputsPlan = {
    style: "perf_analyzer",
    verbosity: 0,
    files: {},
    isVerboseCsv: false,
  };

  isHelp = false;
  isVersion = false;
}
