import type { AssertionPlan } from "./assertions.ts";
import type { BehaviourPlan } from "./behaviour.ts";
import type { CancellationPlan } from "./cancellation.ts";
import type { LoadPlan } from "./load-plan.ts";
import type { MockPlan } from "./mock.ts";
import type { SequencesPlan } from "./sequences.ts";
import type { TelemetryPlan } from "./telemetry.ts";
import type { TokensPlan } from "./tokens.ts";

/** A complete run as plain data. Every front end builds one, `--dry-run` prints it, and the runner executes it. */
export interface Plan {
  /** Version of this format. */
  readonly version: 1;
  readonly name: string;
  readonly target: TargetPlan;
  readonly load: LoadPlan;
  /** Used when the model takes sequences. */
  readonly sequences: SequencesPlan;
  readonly inputs: InputsPlan;
  readonly measurement: MeasurementPlan;
  readonly client: ClientPlan;
  readonly failures: FailuresPlan;
  /** Absent: no request is cancelled. */
  readonly cancellation?: CancellationPlan | undefined;
  readonly telemetry: TelemetryPlan;
  readonly assertions: readonly AssertionPlan[];
  readonly outputs: OutputsPlan;
  readonly behaviour?: BehaviourPlan;
}

/** The server to measure. */
export type TargetPlan = TritonTargetPlan | OpenAiTargetPlan | EmbeddedTargetPlan;

/** A Triton server, or another server with the KServe v2 protocol. */
export interface TritonTargetPlan {
  readonly kind: "triton";
  /** `host:port`, `http://host:port/prefix` or `https://…`. */
  readonly url: string;
  /** More servers with the same model. Requests go to all of them round robin. */
  readonly moreUrls?: readonly string[] | undefined;
  readonly protocol: "http" | "grpc";
  readonly model: string;
  /** Empty: the server chooses. */
  readonly modelVersion: string;
  /** Items per request, 1 or more. */
  readonly batchSize: number;
  /** One bidirectional gRPC stream per lane instead of unary calls. */
  readonly isStreaming: boolean;
  readonly inputTensorFormat: "binary" | "json";
  readonly outputTensorFormat: "binary" | "json";
  /** HTTP headers or gRPC metadata of every request. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Sizes of inputs with variable shape, without the batch dimension. */
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  /** Where tensors are: in requests and responses, or in memory shared with a server on the same machine. */
  readonly sharedMemory: "none" | "system" | "cuda";
  /** Shared memory for one item of an output with variable size. */
  readonly outputSharedMemoryBytes: number;
  /** Extra parameters of every request, by name; gRPC only. */
  readonly parameters: Readonly<Record<string, RequestParameterPlan>>;
  /** Compression of requests; gRPC only. */
  readonly compression: "none" | "gzip" | "deflate";
  /** Models that the model calls through business logic scripting, for their statistics. An ensemble's models are detected. */
  readonly composingModels: readonly ComposingModelPlan[];
  readonly tls: TlsPlan;
}

/** A model that the measured model calls. */
export interface ComposingModelPlan {
  readonly name: string;
  /** Empty: the running version. */
  readonly version: string;
}

/**
 * A request parameter. The value is text, so that 64-bit numbers survive JSON: `true` or `false`, an integer, a decimal number, or any
 * string.
 */
export interface RequestParameterPlan {
  readonly type: "bool" | "int" | "uint" | "double" | "string";
  readonly value: string;
}

/** TLS settings, used for `https://` URLs, and for gRPC if `isEnabled`. */
export interface TlsPlan {
  readonly isEnabled: boolean;
  /** PEM file of certificate authorities to trust instead of the system's. */
  readonly caFile: string;
  /** Client certificate; a PEM file may contain the chain. */
  readonly certFile: string;
  readonly certType: "PEM" | "DER";
  readonly keyFile: string;
  readonly keyType: "PEM" | "DER";
  /** False: accept a certificate from any signer. */
  readonly verifyPeer: boolean;
  /** False: accept a certificate for any name. */
  readonly verifyHost: boolean;
}

/** A server of generative models with JSON payloads, such as OpenAI's API. */
export interface OpenAiTargetPlan {
  readonly kind: "openai";
  /** `host:port`, `http://host:port/prefix` or `https://…`. */
  readonly url: string;
  /** More servers with the same model. Requests go to all of them round robin. */
  readonly moreUrls?: readonly string[] | undefined;
  readonly protocol: "http";
  /** Path for payloads, without a leading slash: `v1/chat/completions`. */
  readonly endpoint: string;
  readonly model: string;
  readonly batchSize: 1;
  /** Whether payloads request a stream of events. */
  readonly isStreaming: boolean;
  /** Headers of every request. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Environment variable with an API key, sent as `Authorization: Bearer …` and never stored. */
  readonly apiKeyEnv?: string;
  readonly tls: TlsPlan;
}

/** Rampart's built-in server, started for the run. */
export interface EmbeddedTargetPlan {
  readonly kind: "embedded";
  readonly protocol: "http" | "grpc";
  readonly isStreaming: boolean;
  readonly batchSize: number;
  readonly mock: MockPlan;
  /** Path of its language model to measure, without a leading slash; absent: measure its tensor model. */
  readonly llmPath?: string;
}

/** The parts of a plan that describe inputs, by their `kind`. Each source declares its own beside its entry in `inputs/kinds/`. */
// biome-ignore lint/suspicious/noEmptyInterface: the sources add to it.
export interface InputsPlans {}

/** Source of request data. */
export type InputsPlan = InputsPlans[keyof InputsPlans];

/** How to measure a level. */
export interface MeasurementPlan {
  readonly mode: MeasurementModePlan;
  /** Number of requests before each measurement that are not measured. */
  readonly warmupRequests: number;
  /** Duration of load before each measurement that is not measured. With `warmupRequests`, both must be reached. Absent: none. */
  readonly warmupMs?: number | undefined;
  /** Latency for stability and the limit: a percentile from 1 to 99, or null for the average. */
  readonly percentile: number | null;
  /** A level with this latency or more ends the search; null: no limit. */
  readonly latencyLimitMs: number | null;
  /** Absent: tokens are not measured. */
  readonly tokens?: TokensPlan;
}

/** How long to measure a level. */
export type MeasurementModePlan =
  /** Windows of 1.2 × `windowMs` until three in a row agree. */
  | {
      readonly kind: "time-windows";
      readonly windowMs: number;
      readonly stabilityPct: number;
      readonly maxTrials: number;
    }
  /** Windows of whole seconds with at least this number of requests, until three in a row agree. */
  | {
      readonly kind: "count-windows";
      readonly requestsPerWindow: number;
      readonly stabilityPct: number;
      readonly maxTrials: number;
    }
  /** A total number of requests; null: the number that the load defines. */
  | { readonly kind: "requests"; readonly count: number | null }
  /**
   * A total duration. With `graceMs`, no request is in flight at the start and none is sent after the end; requests in flight at the end
   * count if they complete within the grace period, and are cancelled otherwise. Without it, a window of a continuing load.
   */
  | { readonly kind: "duration"; readonly durationMs: number; readonly graceMs?: number | undefined };

export type CallModePlan = "sync" | "async" | "auto";

/** The client that sends requests. */
export interface ClientPlan {
  /** `own`: Rampart's client; the others are libraries for comparison and as a fallback. */
  readonly kind: "own" | "undici" | "grpc-js";
  /**
   * `sync`: a lane waits for its response; `async`: a lane may have several outstanding requests; `auto`: async for models with sequences
   * or several responses per request, otherwise sync.
   */
  readonly callMode: CallModePlan;
  /** Maximum number of lanes (perf_analyzer's worker threads); null: as many as the load needs. */
  readonly maxLanes: number | null;
  /** A request fails when it receives no byte for this time. */
  readonly stallTimeoutMs: number;
  /** A request fails when its response is not complete after this time. Absent: no limit. */
  readonly requestTimeoutMs?: number | undefined;
  /** A request fails when its response has more bytes: its body, or all its messages together, decompressed. Default: 256 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** The ranks of an MPI job begin each level together and measure it until it is stable on all ranks. */
  readonly isMpi: boolean;
}

/** How failed requests affect the run. */
export interface FailuresPlan {
  /** The run ends when the ratio of failed requests, 0 to 1, is above this; 0: at the first failure; null: never. */
  readonly maxRatio: number | null;
}

/** What to print and write. */
export interface OutputsPlan {
  readonly style: "perf_analyzer" | "genai-perf" | "rampart";
  /** 0, 1 (`-v`: also each window) or 2 (`-v -v`: also requests and responses). */
  readonly verbosity: 0 | 1 | 2;
  readonly files: OutputFilesPlan;
  /** More columns in the CSV. */
  readonly isVerboseCsv: boolean;
  /** Show progress during the run. Default: false. */
  readonly isLive?: boolean | undefined;
}

/** Paths of the files to write, by the key of their report. Absent: not written. */
export interface OutputFilesPlan {
  readonly csv?: string;
  /** Rampart's own report. */
  readonly json?: string;
  /** Each measured request, as perf_analyzer writes them. */
  readonly profileExport?: string;
  /** One line of JSON for each request. */
  readonly records?: string;
}
