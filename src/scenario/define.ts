import type { GivenTags, TaggedInput } from "../inputs/tagged-input.ts";
import type { CLIENTS, ClientKind } from "../plan/plan.ts";
import type { Duration, Percent } from "../plan/units.ts";
import type { OnRecord } from "../result/finished-request.ts";
import type { CheckResponse } from "../service/scenario-response.ts";
import type { Assertion, MetricOf } from "./assertion.ts";
import type { CancelOptions } from "./cancel.ts";
import type { CapacityOptions } from "./definition/capacity.ts";
import type { DerivedMetric, ExtractedOf } from "./definition/derive.ts";
import type { HookContext, TeardownContext } from "./hooks/hook-types.ts";
import type { Inputs } from "./input-data.ts";
import type { Load, LoadKind, LoadList, LoadPlace } from "./loads/load.ts";
import type { ParameterTable, ValuesOf } from "./params/parameter.ts";
import type { Repeat } from "./repeat.ts";
import type { SequenceOptions } from "./sequences.ts";
import type { AnyTags, CheckedTags, TagsOf, WhereOf } from "./tags.ts";
import type { Protocol, ResponseType, Target } from "./targets/target.ts";

/** Criteria for a stable level, like in perf_analyzer: the last three windows must agree. */
export interface StabilityOptions {
  /** Length of a measuring window; one lasts 1.2 times as long, as in perf_analyzer. Default: `"5 s"`. */
  readonly window?: Duration;
  /** Requests in a window, instead of a time; it lasts whole seconds, as in perf_analyzer. Not with `window`. Default: windows of time. */
  readonly requests?: number;
  /** Largest difference between the last three windows, relative to the lowest. Default: `"10 %"`. */
  readonly within?: Percent;
  /** Number of windows after which a level counts as unstable. Default: 10. */
  readonly trials?: number;
  /** The latency percentile that must be stable. Default: the mean. */
  readonly percentile?: number;
}

/**
 * Settings of Triton's traces while the scenario runs. The server's settings are restored after the run. Settings that are not given
 * are unchanged.
 */
export interface ServerTraceOptions {
  /** File on the server that receives the traces. */
  readonly file?: string;
  /** Levels to trace. */
  readonly levels?: readonly ("OFF" | "TIMESTAMPS" | "TENSORS")[];
  /** One in this many requests is traced. */
  readonly oneIn?: number;
  /** Maximum number of requests to trace; -1: no limit. */
  readonly count?: number;
  /** Number of traces after which the file is written; 0: at the end. */
  readonly logFrequency?: number;
}

/** The server's page of metrics: of its GPUs (Triton), and of its KV cache (vLLM, SGLang, TensorRT-LLM on Triton). */
export interface MetricsOptions {
  /**
   * Address of a page in Prometheus' text format; if it does not respond, the run does not start. Default: port 8002 of the target's host,
   * path `/metrics`, and a run without metrics if that does not respond; the embedded target has no page.
   */
  readonly url?: string;
  /** Time between two readings. Default: `"1 s"`. */
  readonly every?: Duration;
}

/**
 * The inputs that a target accepts, by its type of response; none if the target makes the requests, or is a mix, whose members each have
 * inputs.
 */
export type InputsOf<A extends ResponseType> = [ResponseType] extends [A]
  ? Inputs
  : "mixed" extends A
    ? never
    : A extends "messages"
      ? never
      : Inputs<
          A extends "tensors"
            ? "tensors"
            : A extends "bytes"
              ? "files"
              : A extends "plain"
                ? "payloads" | "chains"
                : "payloads"
        >;

/** The field `inputs` of targets without a default for it, unless the load contains the requests. */
export type NeededInputs<S extends LoadKind, A extends ResponseType> = [A] extends [
  "text" | "stream" | "vectors" | "bytes",
]
  ? "traced" extends S
    ? unknown
    : { readonly inputs: object }
  : unknown;

/** The clients for a protocol: Rampart's own, or a general-purpose library. */
export type ClientOf<P extends Protocol> = {
  [K in ClientKind]: P extends (typeof CLIENTS)[K][number] ? K : never;
}[ClientKind];

/** The names of the members of a mix, from texts such as `target: a`. */
type MemberOf<X extends string> = string extends X ? string : X extends `target: ${infer N}` ? N : never;

/** The members of a mix that must all have separate loads if one of them has: all members, or `never` if they are not known. */
type AllMembersOf<X extends string> = string extends X ? never : MemberOf<X>;

/** The argument of {@link defineScenario}. */
export interface ScenarioDefinition<
  P extends Protocol = Protocol,
  S extends LoadKind = LoadKind,
  A extends ResponseType = ResponseType,
  G extends AnyTags = GivenTags,
  X extends string = string,
  N extends string = string,
  I = TaggedInput,
> {
  /** Name in the report. Default: the name of the scenario's file, without its extension. */
  readonly name?: string;
  /** The server and the model to measure: `triton(…)`, `openai(…)`, `torchserve(…)`, `http(…)`, `embedded(…)` and others, or several with `mix([…])`. */
  readonly target: Target<P, A, X>;
  /** When to send requests: `ramp(…)`, `hold(…)`, `rate(…)` and others, or a list of them, which run one after another without a pause. */
  readonly load: Load<S, LoadPlace, MemberOf<NoInfer<X>>, AllMembersOf<NoInfer<X>>> | LoadList<S>;
  /**
   * Data to send. Default: `input.random()`, or with `http` and `grpc` the requests from their options; required with `openai` and
   * `embeddedLlm`.
   */
  readonly inputs?: InputsOf<A>;
  /**
   * Metrics that are computed from others at every level, by name: `{ tokensPerJoule: { value: (level) => …, unit: "tokens/J", better:
   * "higher" } }`. Reports show them beside the other metrics, `derived("tokensPerJoule")` asserts them, and `rampart compare` compares
   * them. Default: none.
   */
  readonly derive?: Readonly<Record<N, DerivedMetric<MetricOf<S, A>, ExtractedOf<NoInfer<X>>>>>;
  /** Conditions that must be met at every level. Default: none. */
  readonly assert?: readonly Assertion<MetricOf<S, A>, WhereOf<NoInfer<G>> | NoInfer<X> | `derived: ${NoInfer<N>}`>[];
  /**
   * Labels that split every metric: the same for all requests, or a function of the input, called once per input before the load. Entries
   * of `input.json(…)` and `input.payloads(…)` can have separate tags. Default: none.
   */
  readonly tags?: TagsOf<G, I>;
  /**
   * Checks a response: returns true or nothing if it is right, false or the reason if it is wrong. A wrong response is a failed request of
   * kind `check`, and reports show the first ones. Called for each response that the service accepts, after its latency has been measured.
   * Default: no check.
   */
  readonly check?: CheckResponse;
  /**
   * Receives each finished request, including those of warm-up, in the order of their ends; shortly after the end, between the events of
   * the load. An error ends the run. If it returns a promise, the next call waits for it. Default: none.
   */
  readonly onRecord?: OnRecord;
  /**
   * Repeats the whole run, with its warm-up: `5` times, or `{ until: p99("latency").within("5 %") }`. The report has a row for each run and
   * one for all of them together, and `assert` judges the mean over runs. With `findMax`, each run repeats the search. Default: one run.
   */
  readonly repeat?: Repeat<MetricOf<S, A>, WhereOf<NoInfer<G>> | NoInfer<X> | `derived: ${NoInfer<N>}`>;
  /**
   * Changes all random draws: arrivals, generated data, cancelled requests, and the latencies of `embedded`. The same number gives the same
   * draws. Each run of `repeat` has a different number, derived from this one; the report lists them. Default: 0.
   */
  readonly seed?: number;
  /** Requests that are sent before each level and not measured. Default: 0. */
  readonly warmupRequests?: number;
  /**
   * Time of unmeasured load before each level; with `warmupRequests`, the warm-up lasts until both are reached. The load continues
   * into the measurement, unless the measurement has a number of requests. Default: none.
   */
  readonly warmupFor?: Duration;
  /** Criteria for a stable level, for loads without `for` and `requests`. Default: perf_analyzer's rule. */
  readonly stability?: StabilityOptions;
  /** Settings of sequences, for sequence models. */
  readonly sequences?: SequenceOptions;
  /**
   * Reads the server's page of metrics at each level, for `gpuUtilization`, `kvCacheUsage` and others; `{}` uses the defaults. Default:
   * none.
   */
  readonly metrics?: MetricsOptions;
  /** Trace settings of a Triton server during the run; for one server, not for a mix. Default: unchanged. */
  readonly serverTrace?: ServerTraceOptions;
  /**
   * Stops at the first level that reaches this latency. That level and the previous one are measured until two measurements agree.
   * Default: none.
   */
  readonly latencyLimit?: Duration;
  /** Hardware of the server, for the report's capacity answer: throughput per GPU, cost, GPUs for a number of users. Default: none. */
  readonly capacity?: CapacityOptions;
  /** Ends the run when it is certain that a larger share of requests fails: `"1 %"`. Default: no limit; failures are counted. */
  readonly maxErrorRate?: Percent | 0;
  /** Requests to cancel on purpose. They are counted separately from failures. Default: none. */
  readonly cancel?: CancelOptions;
  /** Library that sends the requests: Rampart's own, `"undici"` (HTTP) or `"grpc-js"` (gRPC). Default: `"own"`. */
  readonly client?: ClientOf<P>;
  /** A request fails when no byte arrives for this time. Default: `"60 s"`. */
  readonly stallTimeout?: Duration;
  /** A request fails when its response is not complete after this time, even if bytes arrive. Default: no limit. */
  readonly timeout?: Duration;
  /**
   * A request fails when its response has more bytes: its body, or all its messages, decompressed. Default: 268,435,456 (256
   * MiB).
   */
  readonly maxResponseBytes?: number;
  /**
   * Maximum number of requests in flight. Above it, the run ends with exit code 66 and a report of what was measured. Default: as many as
   * fit into 512 MiB (a quarter of the free memory, if that is less), and as the open files and ports of this host allow.
   */
  readonly maxInFlight?: number;
  /**
   * Source addresses, used in turn, of connections to the servers, and to pages of metrics on their hosts: `["10.0.0.5",
   * "10.0.0.6"]`. Each address has separate ports, so that more connections can be open. Default: the system chooses.
   */
  readonly sourceAddresses?: readonly string[];
  /**
   * Number of threads that send, each its share of the load, if one core is not enough. The report, and files of single requests, are the
   * same as with one thread. Each thread loads the scenario and calls its functions; `setup` runs once, and `onRecord` in the main
   * thread. `"auto"` begins with one thread, and adds one after each level for which the client was the limit, up to one for each core.
   * The number does not change within a level, so a single level, and phases, use one thread. Default: 1, the main thread.
   */
  readonly workers?: number | "auto";
}

/**
 * A field that may be a function of the values of the parameters: `load: ({ users }) => hold(users)`, and of the result of `setup`:
 * `target: (params, { url }) => triton(url, { model: "simple" })`.
 * @template T its type @template V the values of `params` @template R the result of `setup`
 */
export type FieldOf<T, V, R> = T | ((params: V, started: R) => T);

/** Parts of a scenario in addition to the fields of its definition. */
export interface ScenarioExtras<D extends ParameterTable, R> {
  /**
   * Values that the command line and the environment can change: `{ users: param.integer(16) }` with `--set users=32` or
   * `RAMPART_USERS=32`. Every other field except `tags`, `check` and `onRecord` can be a function of them. Default: none.
   */
  readonly params?: D;
  /**
   * Called before the run, for example to start a server. Its result is the second argument of fields that are functions; write
   * `setup` before them. Default: none.
   */
  readonly setup?: (context: HookContext<ValuesOf<D>>) => R | Promise<R>;
  /**
   * Called after the run in any case, also if `setup` failed and after Ctrl-C. It must finish within 60 s. It need not stop processes of
   * `start`, which are stopped after it. Default: none.
   */
  readonly teardown?: (context: TeardownContext<ValuesOf<D>, NoInfer<R>>) => void | Promise<void>;
}

/**
 * The argument of {@link defineScenario}: the fields of a scenario, each of which may be a function, its parameters and its
 * hooks.
 */
export type ScenarioSource<
  P extends Protocol,
  S extends LoadKind,
  A extends ResponseType,
  D extends ParameterTable,
  R,
  G extends AnyTags = GivenTags,
  X extends string = string,
  N extends string = string,
  I = TaggedInput,
> = ScenarioExtras<D, R> &
  NeededInputs<S, A> &
  CheckedTags<G, I> & {
    readonly [K in keyof ScenarioDefinition<P, S, A, G, X, N, I>]: K extends "tags" | "check" | "onRecord"
      ? ScenarioDefinition<P, S, A, G, X, N, I>[K]
      : FieldOf<ScenarioDefinition<P, S, A, G, X, N, I>[K], ValuesOf<D>, R>;
  };

const BRAND = Symbol.for("rampart.scenario");

/** A scenario, ready to be the default export of its file. `D` is the type of its definition. */
export interface Scenario<D extends object = object> {
  /** The argument of `defineScenario`, for extending it: `defineScenario({ ...base.definition, load: hold(8) })`. */
  readonly definition: D;
}

/** Defines a scenario, which is checked when it runs. The `defineScenario` of index.ts, which users import, also starts runs. */
export function defineScenario<
  const P extends Protocol,
  const S extends LoadKind,
  const A extends ResponseType,
  const D extends ParameterTable = Record<never, never>,
  R = undefined,
  const G extends AnyTags = GivenTags,
  const X extends string = string,
  const N extends string = never,
  I = TaggedInput,
>(definition: ScenarioSource<P, S, A, D, R, G, X, N, I>): Scenario<ScenarioSource<P, S, A, D, R, G, X, N, I>> {
  return Object.freeze({ [BRAND]: true, definition });
}

/** Creates a scenario of fields whose types were not checked. Its schema checks them when it runs. */
export function scenarioOf(fields: object): Scenario {
  return Object.freeze({ [BRAND]: true, definition: fields });
}

/** Whether a value is a scenario. */
export function isScenario(value: unknown): value is Scenario {
  return typeof value === "object" && value !== null && BRAND in value;
}
