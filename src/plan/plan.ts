import type { AssertionPlan } from "./assertions.ts";
import type { BehaviourPlan } from "./behaviour.ts";
import type { CancellationPlan } from "./cancellation.ts";
import type { LoadPlan } from "./load-plan.ts";
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

/**
 * The parts of a plan that describe targets, by their `kind`. Each service kind declares its own beside its schema in `service/`. All have
 * `protocol`, `isStreaming` and `batchSize`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the service kinds add to it.
export interface TargetPlans {}

/** The server to measure. */
export type TargetPlan = TargetPlans[keyof TargetPlans];

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

/** Paths of the files to write, by the key of their report. Absent: not written. The table of reports declares the keys. */
// biome-ignore lint/suspicious/noEmptyInterface: the table of reports adds to it.
export interface OutputFilesPlan {}
