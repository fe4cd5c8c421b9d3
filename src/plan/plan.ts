import type { AssertionPlan } from "./assertions.ts";
import type { BehaviourPlan } from "./behaviour.ts";
import type { MockPlan } from "./mock.ts";
import type { PromptsPlan } from "./prompts.ts";
import type { TokensPlan } from "./tokens.ts";

/**
 * What a run will do, as plain data: every front door builds one, `--dry-run` prints it, the run executes it. Units are in names.
 */

import type { CancellationPlan } from "./cancellation.ts";
import type { LoadPlan } from "./load-plan.ts";
import type { SequencesPlan } from "./sequences.ts";
import type { TelemetryPlan } from "./telemetry.ts";

/** A whole run. */
export interface Plan {
  /** Version of this shape. */
  readonly version: 1;
  readonly name: string;
  readonly target: TargetPlan;
  readonly load: LoadPlan;
  /** Looked at where the model takes sequences. */
  readonly sequences: SequencesPlan;
  readonly inputs: InputsPlan;
  readonly measurement: MeasurementPlan;
  readonly client: ClientPlan;
  readonly failures: FailuresPlan;
  /** Absent: every request is waited for. */
  readonly cancellation?: CancellationPlan | undefined;
  readonly telemetry: TelemetryPlan;
  readonly assertions: readonly AssertionPlan[];
  readonly outputs: OutputsPlan;
  readonly behaviour?: BehaviourPlan;
}

/** What is measured. */
export type TargetPlan = TritonTargetPlan | OpenAiTargetPlan | EmbeddedTargetPlan;

/** A Triton server, or anything that speaks KServe v2 as it does. */
export interface TritonTargetPlan {
  readonly kind: "triton";
  /** `host:port`, `http://host:port/prefix` or `https://…`. */
  readonly url: string;
  /** Further servers of the same model, which requests go to in turn with `url`. Absent or empty: none. */
  readonly moreUrls?: readonly string[] | undefined;
  readonly protocol: "http" | "grpc";
  readonly model: string;
  /** Empty: the server's choice. */
  readonly modelVersion: string;
  /** Items per request, 1 or more. */
  readonly batchSize: number;
  /** One bidirectional gRPC stream per lane instead of unary calls. */
  readonly isStreaming: boolean;
  readonly inputTensorFormat: "binary" | "json";
  readonly outputTensorFormat: "binary" | "json";
  /** HTTP headers or gRPC metadata of every request. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Sizes of inputs whose shape varies, without the batch dimension. */
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  /** Where tensors lie: in requests and responses, or in memory shared with a server on the same machine. */
  readonly sharedMemory: "none" | "system" | "cuda";
  /** Shared memory for one item of an output whose size the model does not tell. */
  readonly outputSharedMemoryBytes: number;
  /** Parameters of every request besides its tensors, by name; gRPC only. */
  readonly parameters: Readonly<Record<string, RequestParameterPlan>>;
  /** How requests are compressed; gRPC only. */
  readonly compression: "none" | "gzip" | "deflate";
  /** Models that the model calls by itself (business logic scripting), for their statistics; an ensemble's are known without. */
  readonly composingModels: readonly ComposingModelPlan[];
  readonly tls: TlsPlan;
}

/** A model that the measured one calls. */
export interface ComposingModelPlan {
  readonly name: string;
  /** Empty: the one that runs. */
  readonly version: string;
}

/** A parameter of a request. Its value is text, so that 64 bits survive JSON: `true` or `false`, digits, a decimal number, or any text. */
export interface RequestParameterPlan {
  readonly type: "bool" | "int" | "uint" | "double" | "string";
  readonly value: string;
}

/** TLS settings; they only matter for `https://` URLs and for gRPC with `isEnabled`. */
export interface TlsPlan {
  readonly isEnabled: boolean;
  /** PEM of the authorities to trust instead of the system's. */
  readonly caFile: string;
  /** The client's certificate; a PEM file may hold its chain. */
  readonly certFile: string;
  readonly certType: "PEM" | "DER";
  readonly keyFile: string;
  readonly keyType: "PEM" | "DER";
  /** False accepts a certificate whoever signed it. */
  readonly verifyPeer: boolean;
  /** False accepts a certificate whatever name is in it. */
  readonly verifyHost: boolean;
}

/** A server of generative models that takes JSON payloads, as OpenAI's API does. */
export interface OpenAiTargetPlan {
  readonly kind: "openai";
  /** `host:port`, `http://host:port/prefix` or `https://…`. */
  readonly url: string;
  /** Further servers of the same model, which requests go to in turn with `url`. Absent or empty: none. */
  readonly moreUrls?: readonly string[] | undefined;
  readonly protocol: "http";
  /** The path that payloads are sent to, without a leading slash: `v1/chat/completions`. */
  readonly endpoint: string;
  readonly model: string;
  readonly batchSize: 1;
  /** Whether payloads ask for events instead of one answer. */
  readonly isStreaming: boolean;
  /** Headers of every request. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The variable of the environment that holds an API key, which is sent as `Authorization: Bearer …` and stands nowhere else. */
  readonly apiKeyEnv?: string;
  readonly tls: TlsPlan;
}

/** Rampart's own target, started for the run and stopped after it. */
export interface EmbeddedTargetPlan {
  readonly kind: "embedded";
  readonly protocol: "http" | "grpc";
  readonly isStreaming: boolean;
  readonly batchSize: number;
  readonly mock: MockPlan;
  /** The path of its language model that is measured, without a leading slash; absent: its tensor model is. */
  readonly llmPath?: string;
}

/** Where the data of requests comes from. */
export type InputsPlan =
  | { readonly kind: "random"; readonly stringLength: number; readonly stringData: string }
  | { readonly kind: "zero"; readonly stringLength: number; readonly stringData: string }
  /** `isInOrder`: see the payloads' below. */
  | { readonly kind: "json"; readonly files: readonly string[]; readonly isInOrder?: boolean }
  | { readonly kind: "directory"; readonly directory: string }
  /**
   * `moreFiles` follow the first as if they were one. With `isInOrder` each request takes the next step of the data, whichever lane sends
   * it, so that N requests take the first N steps; without, each lane goes through the data in strides of its own, as perf_analyzer's.
   */
  | {
      readonly kind: "payloads";
      readonly file: string;
      readonly moreFiles?: readonly string[];
      readonly isInOrder?: boolean;
    }
  | PromptsPlan;

/** What counts as a measurement of a level. */
export interface MeasurementPlan {
  readonly mode: MeasurementModePlan;
  /** Requests sent before each measurement and left out of it. */
  readonly warmupRequests: number;
  /** Load before each measurement, left out of it, as a time; with `warmupRequests` until both have come about. Absent: none. */
  readonly warmupMs?: number | undefined;
  /** Latency that stability and the limit look at: a percentile of 1 to 99, or null for the average. */
  readonly percentile: number | null;
  /** Levels at or above this latency end the search; null: no limit. */
  readonly latencyLimitMs: number | null;
  /** Absent: no tokens are looked at. */
  readonly tokens?: TokensPlan;
}

/** How long a level is measured. */
export type MeasurementModePlan =
  /** Windows of 1.2 times `windowMs` until three in a row agree. */
  | {
      readonly kind: "time-windows";
      readonly windowMs: number;
      readonly stabilityPct: number;
      readonly maxTrials: number;
    }
  /** Windows of whole seconds with at least so many requests, until three in a row agree. */
  | {
      readonly kind: "count-windows";
      readonly requestsPerWindow: number;
      readonly stabilityPct: number;
      readonly maxTrials: number;
    }
  /** So many requests in all; null: as many as the load has of itself. */
  | { readonly kind: "requests"; readonly count: number | null }
  /**
   * So long in all. With `graceMs` nothing is under way when it begins, nothing is sent when it is over, and what is under way then
   * belongs to it, as far as it ends within so long; the rest is given up. Without, a window of a load that goes on.
   */
  | { readonly kind: "duration"; readonly durationMs: number; readonly graceMs?: number | undefined };

export type CallModePlan = "sync" | "async" | "auto";

/** What sends the requests. */
export interface ClientPlan {
  /** `own` is Rampart's client; the others are general-purpose libraries to compare with and fall back to. */
  readonly kind: "own" | "undici" | "grpc-js";
  /**
   * `sync`: a lane waits for its answer; `async`: a lane may have several requests outstanding; `auto`: async for models with sequences
   * or several responses per request, otherwise sync.
   */
  readonly callMode: CallModePlan;
  /** Most lanes (perf_analyzer's worker threads); null: as many as the load needs. */
  readonly maxLanes: number | null;
  /** A request without a byte for so long has failed. */
  readonly stallTimeoutMs: number;
  /** A request without its complete answer for this long has failed, however often bytes arrive. Left out: no limit. */
  readonly requestTimeoutMs?: number | undefined;
  /** A response with more bytes has failed: its body, or all messages for one request, decompressed. Left out: 256 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** The ranks of an MPI job begin each level together, and measure it until it is stable for all of them. */
  readonly isMpi: boolean;
}

/** What failed requests do to the run. */
export interface FailuresPlan {
  /** Share of failed requests, 0 to 1, above which the run ends; null: failures are only counted. 0: the first failure ends it. */
  readonly maxRatio: number | null;
}

/** What is printed and written. Empty file names: not written. */
export interface OutputsPlan {
  readonly style: "perf_analyzer" | "genai-perf" | "rampart";
  /** 0, 1 (`-v`: windows as they come) or 2 (`-v -v`: requests and answers too). */
  readonly verbosity: 0 | 1 | 2;
  readonly csvFile: string;
  readonly isVerboseCsv: boolean;
  readonly profileExportFile: string;
  /** Rampart's own report as JSON. */
  readonly jsonFile: string;
  /** One line of JSON per request. Left out or empty: not written. */
  readonly recordsFile?: string | undefined;
  /** Show the state of the run while it lasts. Default false. */
  readonly isLive?: boolean | undefined;
}
