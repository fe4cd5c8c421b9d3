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

/** When a level is stable, like in perf_analyzer: the last three windows agree. */
export interface StabilityOptions {
  /** Length of a measuring window; one lasts 1.2 times as long, as in perf_analyzer. Default: `"5 s"`. */
  readonly window?: Duration;
  /** Requests in a window, instead of a time; it lasts whole seconds, as in perf_analyzer. Not with `window`. Default: windows of time. */
  readonly requests?: number;
  /** Largest difference between the last three windows, as a part of the lowest. Default: `"10 %"`. */
  readonly within?: Percent;
  /** Windows after which a level is unstable. Default: 10. */
  readonly trials?: number;
  /** The latency percentile that must be stable. Default: the mean. */
  readonly percentile?: number;
}

/** What Triton traces while the scenario runs. Its settings are restored after the run. Without a field, its setting stays as it is. */
export interface ServerTraceOptions {
  /** File on the server that receives the traces. */
  readonly file?: string;
  /** What is traced. */
  readonly levels?: readonly ("OFF" | "TIMESTAMPS" | "TENSORS")[];
  /** One in this many requests is traced. */
  readonly oneIn?: number;
  /** Most requests to trace; -1: no limit. */
  readonly count?: number;
  /** Traces after which the file is written; 0 is at the end. */
  readonly logFrequency?: number;
}

/** The server's page of metrics: of its GPUs (Triton), and of its KV cache (vLLM, SGLang, TensorRT-LLM on Triton). */
export interface MetricsOptions {
  /**
   * Address of a page in Prometheus' text format; without a response from it there is no run. Default: port 8002 of the target's host, path
   * `/metrics`, and a run without metrics when that does not answer; the embedded target has none.
   */
  readonly url?: string;
  /** Time between two readings. Default: `"1 s"`. */
  readonly every?: Duration;
}

/** The inputs that a target accepts, by its type of response; none where the target has the requests, and where each member of a mix has its own. */
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

/** The field `inputs` of targets that have no default for it, unless the load brings the requests. */
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

/** The names of the members of a mix, of `target: a`. */
type MemberOf<X extends string> = string extends X ? string : X extends `target: ${infer N}` ? N : never;

/** The members of a mix that must have loads of their own, if one has: all, or none where they are not known. */
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
  /** Name in the report. Default: that of the scenario's file, without its extension. */
  readonly name?: string;
  /** The server and the model to measure: `triton(…)`, `openai(…)`, `torchserve(…)`, `http(…)`, `embedded(…)` and others, or several with `mix([…])`. */
  readonly target: Target<P, A, X>;
  /** When to send requests: `ramp(…)`, `hold(…)`, `rate(…)` and others, or a list of them, which run one after the other without a pause. */
  readonly load: Load<S, LoadPlace, MemberOf<NoInfer<X>>, AllMembersOf<NoInfer<X>>> | LoadList<S>;
  /** What to send. Default: `input.random()`, or with `http` and `grpc` what their options describe; required with `openai` and `embeddedLlm`. */
  readonly inputs?: InputsOf<A>;
  /**
   * Metrics that are computed from others at every level, by name: `{ tokensPerJoule: { value: (level) => …, unit: "tokens/J", better: "higher" } }`.
   * Reports have them beside the others, `derived("tokensPerJoule")` asserts them, and `rampart compare` compares them. Default: none.
   */
  readonly derive?: Readonly<Record<N, DerivedMetric<MetricOf<S, A>, ExtractedOf<NoInfer<X>>>>>;
  /** What must hold at every level. Default: none. */
  readonly assert?: readonly Assertion<MetricOf<S, A>, WhereOf<NoInfer<G>> | NoInfer<X> | `derived: ${NoInfer<N>}`>[];
  /**
   * Labels that split every metric: the same for all requests, or a function of the input, called once per input before the load. Entries
   * of `input.json(…)` and `input.payloads(…)` can have their own. Default: none.
   */
  readonly tags?: TagsOf<G, I>;
  /**
   * Says whether a response is right: returns true or nothing, false, or why it is wrong. A wrong response is a failed request of kind `check`,
   * and reports show the first ones. Called for each response that the service accepts, after its latency is taken. Default: no check.
   */
  readonly check?: CheckResponse;
  /**
   * Receives each finished request, also those of warm-up, in the order of their ends; shortly after the end, between the events of the load.
   * An error ends the run. With a promise, the next call waits for it. Default: none.
   */
  readonly onRecord?: OnRecord;
  /**
   * Repeat the whole run, with its warm-up: `5` times, or `{ until: p99("latency").within("5 %") }`. The report has a row for each run and
   * all of them together, and `assert` judges the mean over runs. With `findMax` each run searches the highest load again. Default: one run.
   */
  readonly repeat?: Repeat<MetricOf<S, A>, WhereOf<NoInfer<G>> | NoInfer<X> | `derived: ${NoInfer<N>}`>;
  /**
   * Changes all random draws: arrivals, generated data, cancelled requests, and the latencies of `embedded`. The same number gives the same
   * draws. Each run of `repeat` has a number of its own, derived from this one; the report lists them. Default: 0.
   */
  readonly seed?: number;
  /** Requests sent before each level, and not measured. Default: 0. */
  readonly warmupRequests?: number;
  /**
   * Time of load before each level that is not measured; with `warmupRequests`, until both are reached. The load continues into the
   * measurement, unless a number of requests ends that. Default: none.
   */
  readonly warmupFor?: Duration;
  /** When a level is stable, without `for` or `requests` in its load. Default: perf_analyzer's rule. */
  readonly stability?: StabilityOptions;
  /** How requests form sequences, for sequence models. */
  readonly sequences?: SequenceOptions;
  /** Read the server's page of metrics at each level, for `gpuUtilization`, `kvCacheUsage` and others; `{}` takes the defaults. Default: none. */
  readonly metrics?: MetricsOptions;
  /** Trace settings of a Triton server for the time of the run; one server, not a mix. Default: unchanged. */
  readonly serverTrace?: ServerTraceOptions;
  /**
   * Stop at the first level that reaches this latency. That level and the one before it are measured until two measurements agree.
   * Default: none.
   */
  readonly latencyLimit?: Duration;
  /** What the server runs on, for the capacity answer of the report: throughput per GPU, cost, GPUs for a number of users. Default: none. */
  readonly capacity?: CapacityOptions;
  /** The run ends when it is certain that a larger share of requests fails: `"1 %"`. Default: no limit; failures are counted. */
  readonly maxErrorRate?: Percent | 0;
  /** Requests to cancel on purpose. They are counted apart from failures. Default: none. */
  readonly cancel?: CancelOptions;
  /** Library that sends the requests: Rampart's own, `"undici"` (HTTP) or `"grpc-js"` (gRPC). Default: `"own"`. */
  readonly client?: ClientOf<P>;
  /** A request fails when no byte arrives for this long. Default: `"60 s"`. */
  readonly stallTimeout?: Duration;
  /** A request fails when its response is not complete after this long, however often bytes arrive. Default: no limit. */
  readonly timeout?: Duration;
  /** A request fails when its response is longer: its body, or all its messages, decompressed. Default: 268,435,456 (256 MiB). */
  readonly maxResponseBytes?: number;
  /**
   * Most requests in flight, above which the run ends with exit code 66 and a report of what was measured. Default: as many as fit into 512
   * MiB (a quarter of the free memory, if that is less), and as the open files and ports of this host allow.
   */
  readonly maxInFlight?: number;
  /**
   * Addresses of this host that connections to the servers, and to pages of metrics at their hosts, come from, in turn:
   * `["10.0.0.5", "10.0.0.6"]`. Each has ports of its own, so that more connections can be open. Default: the system chooses.
   */
  readonly sourceAddresses?: readonly string[];
  /**
   * Number of threads that send, each its share of the load, where one core is not enough; the report, and files of single requests, are
   * those of one. Each thread loads the scenario and calls its functions; `setup` runs once, and `onRecord` in the main thread. `"auto"`
   * begins with one, and adds one after each level for which the client was the limit, up to one for each core: a level never changes its
   * threads, so a single level, and phases, keep one. Default: 1, the main thread.
   */
  readonly workers?: number | "auto";
}

/**
 * A field that may be a function of the values of the parameters: `load: ({ users }) => hold(users)`, and of what `setup` returned:
 * `target: (params, { url }) => triton(url, { model: "simple" })`.
 * @template T its type @template V the values of `params` @template R what `setup` returned
 */
export type FieldOf<T, V, R> = T | ((params: V, started: R) => T);

/** What a scenario has besides the fields of its definition. */
export interface ScenarioExtras<D extends ParameterTable, R> {
  /**
   * Values that the command line and the environment can change: `{ users: param.integer(16) }` with `--set users=32` or `RAMPART_USERS=32`. Any
   * other field except `tags`, `check` and `onRecord` can be a function of them. Default: none.
   */
  readonly params?: D;
  /**
   * Called before the run, to start a server, for example. What it returns is the second argument of fields that are functions; write
   * `setup` before them. Default: none.
   */
  readonly setup?: (context: HookContext<ValuesOf<D>>) => R | Promise<R>;
  /**
   * Called after the run whatever happened, also when `setup` failed and after Ctrl-C. It has 60 s. Processes of `start` need none: they are
   * stopped after it. Default: none.
   */
  readonly teardown?: (context: TeardownContext<ValuesOf<D>, NoInfer<R>>) => void | Promise<void>;
}

/** What {@link defineScenario} takes: the fields of a scenario, each possibly as a function, its parameters and its hooks. */
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

/** A scenario, ready to be the default export of its file. `D` is the type of what it was defined with. */
export interface Scenario<D extends object = object> {
  /** What `defineScenario` was called with, to extend it: `defineScenario({ ...base.definition, load: hold(8) })`. */
  readonly definition: D;
}

/** Defines a scenario, which is checked when it is run. The `defineScenario` of index.ts, which users import, also starts runs. */
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

/** Makes a scenario of fields that no type has checked: its schema does when it is run. */
export function scenarioOf(fields: object): Scenario {
  return Object.freeze({ [BRAND]: true, definition: fields });
}

/** Whether a value is a scenario. */
export function isScenario(value: unknown): value is Scenario {
  return typeof value === "object" && value !== null && BRAND in value;
}
