import type { TokenMetricName, WholeMetricName } from "../measure/tokens/metrics.ts";
import type { Duration } from "../plan/units.ts";
import type { Assertion, LatencyName, TokenSystemName } from "./assertion.ts";
import type { CancelOptions } from "./cancel.ts";
import type { Inputs } from "./input-data.ts";
import type { Load, LoadKind } from "./loads.ts";
import type { SequenceOptions } from "./sequences.ts";
import type { AnswerType, Protocol, Target } from "./target.ts";

/** A scenario: what is measured, under which load, with which data, and what must hold. */

/** When a level counts as stable: perf_analyzer's rule, and its defaults. */
export interface StabilityOptions {
  /** Length of a measuring window; the tool waits 1.2 times as long. Default: `"5 s"`. */
  readonly window?: Duration;
  /** How far the last three windows may differ, in percent of the lowest. Default: 10. */
  readonly percent?: number;
  /** Most windows before the level counts as unstable. Default: 10. */
  readonly trials?: number;
  /** The latency percentile that must be stable. Default: the average. */
  readonly percentile?: number;
}

/** Which metrics of the server are read, and how often. */
export interface MetricsOptions {
  /** Metrics in Prometheus' text format. Default: port 8002 of the target's host, path `/metrics`; the embedded target has none. */
  readonly url?: string;
  /** Time between two readings. Default: `"1 s"`. */
  readonly every?: Duration;
}

/** The latencies that exist under a load: only a schedule has an intended send. */
export type LatencyOf<S extends LoadKind> = S extends "scheduled" ? LatencyName : "latency";

/** The metrics of tokens that answers of a sort have. */
export type TokensOf<A extends AnswerType> = A extends "stream"
  ? TokenMetricName | TokenSystemName
  : A extends "text"
    ? WholeMetricName | TokenSystemName
    : never;

/** The inputs that a target with answers of a sort takes. */
export type InputsOf<A extends AnswerType> = Inputs<A extends "tensors" ? "tensors" : "payloads">;

/** The clients that speak a protocol: Rampart's own, or a general-purpose library. */
export type ClientOf<P extends Protocol> =
  | "own"
  | (P extends "http" ? "undici" : never)
  | (P extends "grpc" ? "grpc-js" : never);

/** What {@link defineScenario} takes. */
export interface ScenarioDefinition<
  P extends Protocol = Protocol,
  S extends LoadKind = LoadKind,
  A extends AnswerType = AnswerType,
> {
  /** What the report calls it. */
  readonly name: string;
  readonly target: Target<P, A>;
  readonly load: Load<S>;
  /** Default: `random()`; `openai` and `embeddedLlm` have none. */
  readonly inputs?: InputsOf<A>;
  /** What must hold at every level. Default: nothing. */
  readonly assert?: readonly Assertion<LatencyOf<S> | TokensOf<A>>[];
  /** Requests sent before each level and left out of its measurement. Default: 0. */
  readonly warmupRequests?: number;
  /** Load before each level for so long, left out of its measurement; with `warmupRequests` until both have come about. Default: none. */
  readonly warmupFor?: Duration;
  readonly stability?: StabilityOptions;
  /** How requests make up sequences, for models that take them. */
  readonly sequences?: SequenceOptions;
  /** GPU metrics of the server to read while measuring. Default: none. */
  readonly metrics?: MetricsOptions;
  /**
   * No level is measured beyond the first that reaches this latency; that one and the last below it are measured until two measurements agree.
   * Default: none.
   */
  readonly latencyLimit?: Duration;
  /** The run ends when a larger share of requests than this, 0 to 1, has failed. Default: failures are counted, and assertions judge. */
  readonly maxFailureRatio?: number;
  /** Requests to give up on purpose; they are counted apart from failures. Default: none. */
  readonly cancel?: CancelOptions;
  /** What sends the requests. Default: own. */
  readonly client?: ClientOf<P>;
  /** A request without a byte for so long has failed. Default: `"60 s"`. */
  readonly stallTimeout?: Duration;
  /** A request without its complete answer for this long has failed, however often bytes arrive. Default: no limit. */
  readonly requestTimeout?: Duration;
  /** A response of more bytes has failed: its body, or all messages for one request, decompressed. Default: 268,435,456 (256 MiB). */
  readonly maxResponseBytes?: number;
}

const BRAND = Symbol.for("rampart.scenario");

/** A scenario, ready to be the default export of its file. */
export interface Scenario {
  readonly definition: ScenarioDefinition;
}

/**
 * Defines a scenario. It is checked when it is run.
 * @example
 * export default defineScenario({
 *   name: "simple",
 *   target: embedded(),
 *   load: ramp(1, 4, { for: "1 s" }),
 *   assert: [p99("latency").below("50 ms"), errorRate().is(0)],
 * });
 */
export function defineScenario<const P extends Protocol, const S extends LoadKind, const A extends AnswerType>(
  definition: ScenarioDefinition<P, S, A>,
): Scenario {
  return Object.freeze({ [BRAND]: true, definition: definition as unknown as ScenarioDefinition });
}

/** Whether something is a scenario. */
export function isScenario(value: unknown): value is Scenario {
  return typeof value === "object" && value !== null && BRAND in value;
}
