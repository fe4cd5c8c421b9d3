import * as v from "valibot";
import { assertionSchema, derivedSchema, type MetricPlan, precisionSchema } from "./assertions.ts";
import { behaviourSchema } from "./behaviour.ts";
import { cancellationSchema } from "./cancellation.ts";
import { MOST_RESPONSE_BYTES } from "./defaults.ts";
import { functionSchema } from "./functions.ts";
import { tagsSchema } from "./groups/tags.ts";
import type { LoadPlan } from "./load-plan.ts";
import type { OutputFilesPlan } from "./output-files-plan.ts";
import {
  aboveZeroSchema,
  atLeast,
  filledSchema,
  integerSchema,
  isWhole,
  type PlanOf,
  pathSchema,
  type Schema,
  wholeSchema,
} from "./schema.ts";
import { sequencesSchema } from "./sequences.ts";
import { telemetrySchema } from "./telemetry.ts";
import { tokensSchema } from "./tokens.ts";

/**
 * A complete run as plain data. Every front end builds one, `--dry-run` prints it, and the runner executes it. It contains the
 * functions of its scenario, which are not printed: see `plan/functions.ts`.
 */
export interface Plan extends PlanOf<typeof planRestSchema> {
  readonly target: TargetPlan;
  readonly load: LoadPlan;
  readonly inputs: InputsPlan;
  readonly outputs: OutputsPlan;
}

/**
 * Returns the schema of a plan's parts besides target, load and inputs. @param metric the schema of a metric @param
 * isMetricsUrl reports whether a text is the address of a metrics page
 */
export function planRestSchema(metric: Schema<MetricPlan>, isMetricsUrl: (url: string) => boolean) {
  const assertions = v.array(assertionSchema(metric));
  return v.object({
    /** Version of this format. */
    version: v.literal(1),
    name: filledSchema(),
    /** The parameters of the scenario with their values. Absent: none. */
    parameters: v.optional(parametersSchema()),
    /** Used if the model takes sequences. */
    sequences: sequencesSchema(),
    measurement: measurementSchema(),
    client: clientSchema(),
    failures: failuresSchema(),
    /** Absent: no request is cancelled. */
    cancellation: v.optional(cancellationSchema()),
    telemetry: telemetrySchema(isMetricsUrl),
    assertions,
    /** Metrics that are computed from others at every level. Absent: none. */
    derived: v.exactOptional(v.array(derivedSchema())),
    /** Seed of all random choices, combined with the seeds of the parts; a whole number. See `planOfRun`. Default: 0 */
    seed: v.optional(integerSchema()),
    /** Absent: one run. */
    repeat: v.exactOptional(repeatSchema(metric)),
    /** Sources of request groups, in addition to the tags of the data. Absent: only the data. */
    tags: v.optional(tagsSchema()),
    /** Limits that a level must keep, for loads that search for the highest level that does. Absent: none. */
    limits: v.exactOptional(assertions),
    /** Hardware of the server, for the capacity answer of reports. Absent: it is not reported. */
    capacity: v.exactOptional(capacitySchema()),
    /** A scenario's function that checks whether a response is right. Absent: every response that the service accepts is right. */
    check: v.optional(functionSchema()),
    /** A scenario's function that receives each finished request. Absent: none. */
    onRecord: v.optional(functionSchema()),
    outputs: outputsSchema(),
    behaviour: v.exactOptional(behaviourSchema()),
  });
}

/** The parameters of a scenario with the values of this run, by name. Secret values are hidden. */
export type ParametersPlan = PlanOf<typeof parametersSchema>;

/** Returns the schema of the parameters of a scenario. */
export function parametersSchema() {
  const value = v.union([v.string(), v.number(), v.boolean()]);
  return v.record(v.string(), v.object({ value, from: v.picklist(["command line", "environment", "default"]) }));
}

/**
 * The parts of a plan that describe targets, by `kind`: those of the entries in `registry/service-kinds.ts`. All have
 * `protocol`, `isStreaming` and `batchSize`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the registry adds to it.
export interface TargetPlans {}

/** The server to measure. */
export type TargetPlan = TargetPlans[keyof TargetPlans];

/** The parts of a plan that describe inputs, by `kind`: those of the entries in `registry/input-kinds.ts`. */
// biome-ignore lint/suspicious/noEmptyInterface: the registry adds to it.
export interface InputsPlans {}

/** Source of request data. */
export type InputsPlan = InputsPlans[keyof InputsPlans];

/** Settings for measuring a level. */
export type MeasurementPlan = PlanOf<typeof measurementSchema>;

/** Mode of a measurement, which decides its length. */
export type MeasurementModePlan = MeasurementPlan["mode"];

/** Reports whether levels are measured in windows until three consecutive ones agree. */
export function isUntilStable(
  mode: MeasurementModePlan,
): mode is Extract<MeasurementModePlan, { readonly stabilityPct: number }> {
  return "stabilityPct" in mode;
}

export function measurementModeSchema() {
  const count = wholeSchema(1);
  const positive = aboveZeroSchema();
  const natural = v.pipe(v.number(), atLeast(0));
  const stability = { stabilityPct: natural, maxTrials: count };
  return v.variant("kind", [
    /** Windows of 1.2 × `windowMs` until three consecutive ones agree. */
    v.object({ kind: v.literal("time-windows"), windowMs: positive, ...stability }),
    /** Windows of whole seconds with at least this number of requests, until three consecutive ones agree. */
    v.object({ kind: v.literal("count-windows"), requestsPerWindow: count, ...stability }),
    /**
     * A total number of requests; null: the number that the load defines. With `minDurationMs` it is a minimum, and the last
     * request is sent (or due, if the load has a schedule) when this time has passed, or later.
     */
    v.object({ kind: v.literal("requests"), count: v.nullable(count), minDurationMs: v.exactOptional(positive) }),
    /**
     * A total duration. With `graceMs`, no request is in flight at the start and none is sent after the end; requests in flight
     * at the end count if they complete within the grace period, and are cancelled otherwise. Without it, it is a window of a
     * continuing load; in a closed loop, the window lasts until the end of a round.
     */
    v.object({ kind: v.literal("duration"), durationMs: positive, graceMs: v.optional(natural) }),
    /**
     * Windows of `windowMs`, two or more, until the plan's limits are certainly kept or broken, for at most `maxMs`.
     * `withinRatio` is the largest accepted difference between the loads that certainly keep and break them, as a ratio of the
     * lower one.
     */
    v.object({ kind: v.literal("until-resolved"), windowMs: positive, maxMs: positive, withinRatio: positive }),
  ]);
}

function measurementSchema() {
  const positive = aboveZeroSchema();
  const natural = v.pipe(v.number(), atLeast(0));
  return v.object({
    mode: measurementModeSchema(),
    warmupRequests: wholeSchema(0),
    /** Duration of unmeasured load before each measurement. With `warmupRequests`, both must be reached. Absent: none. */
    warmupMs: v.optional(natural),
    /** Latency used for stability and the limit: a percentile from 1 to 99, or null for the mean. */
    percentile: v.nullable(v.pipe(positive, v.ltValue(100, "must be below 100"))),
    /** A level with this latency or more ends the search; null: no limit. */
    latencyLimitMs: v.nullable(positive),
    /** Absent: tokens are not measured. */
    tokens: v.exactOptional(tokensSchema()),
  });
}

/** The NATS server through which agents on other hosts send the load. */
export type BusPlan = PlanOf<typeof busSchema>;

/** Maximum number of agents of a run. */
export const MOST_AGENTS = 1000;

export function busSchema() {
  const count = wholeSchema(1);
  return v.object({
    /** Address, or several addresses of one cluster separated by commas: `nats://USER:PASSWORD@HOST:4222`; `tls://` for TLS. */
    url: v.optional(
      v.pipe(
        v.string(),
        v.check((url) => url === "" || isBusUrl(url), `must be ${BUS_FORM}`),
      ),
      "",
    ),
    /** Number of agents that send. Default: 1 */
    agentCount: v.exactOptional(v.pipe(count, v.maxValue(MOST_AGENTS, `must be ${MOST_AGENTS} or less`))),
    /** Number of agents that may be lost during the run, which then continues without their share. Default: 0 */
    allowLost: v.exactOptional(wholeSchema(0)),
    /** Longest wait for that number of agents. Default: DEFAULT_AGENTS_WAIT_MS */
    waitMs: v.exactOptional(v.pipe(v.number(), atLeast(0))),
    /** Files with the login: credentials, or the seed of an NKey. */
    credsFile: v.exactOptional(v.string()),
    nkeyFile: v.exactOptional(v.string()),
    /** PEM files: trusted certificates, and this client's certificate and key. */
    caFile: v.exactOptional(v.string()),
    certFile: v.exactOptional(v.string()),
    keyFile: v.exactOptional(v.string()),
  });
}

export const BUS_FORM = "the address of a NATS server: nats://HOST:4222 or tls://HOST:4222";

/** Reports whether a text is the address of a NATS server, or of several. */
export function isBusUrl(text: string): boolean {
  return text.split(",").every((one) => /^(?:nats|tls|tcp):\/\/[^/\s]+$/.test(one.trim()) && URL.canParse(one.trim()));
}

/** The client that sends requests. */
export type ClientPlan = PlanOf<typeof clientSchema>;

export type CallModePlan = ClientPlan["callMode"];

/** The clients with the protocols that they support: Rampart's client, and libraries for comparison and as a fallback. */
export const CLIENTS = { own: ["http", "grpc"], undici: ["http"], "grpc-js": ["grpc"] } as const;

/** A client that sends requests. */
export type ClientKind = keyof typeof CLIENTS;

/** Returns the clients that support a protocol. Default: all */
export function clientsOf(protocol?: "http" | "grpc"): ClientKind[] {
  const all = Object.keys(CLIENTS) as ClientKind[];
  return all.filter((kind) => protocol === undefined || (CLIENTS[kind] as readonly string[]).includes(protocol));
}

/** Maximum number of threads that send. */
export const MOST_WORKERS = 256;

export function isAddress(text: string): boolean {
  return v.is(addressSchema(), text);
}

/** Returns the schema of an address of this host. */
export function addressSchema() {
  return v.pipe(v.string("must be text"), v.ip("must be an IP address of this host, such as 10.0.0.5"));
}

function clientSchema() {
  const count = wholeSchema(1);
  const positive = aboveZeroSchema();
  return v.object({
    kind: v.picklist(clientsOf(), "must be own, undici or grpc-js"),
    /**
     * `sync`: a lane waits for its response; `async`: a lane may have several outstanding requests; `auto`: async for models
     * with sequences or several responses per request, otherwise sync.
     */
    callMode: v.picklist(["sync", "async", "auto"], "must be sync, async or auto"),
    /** Maximum number of lanes (perf_analyzer's worker threads); null: as many as the load needs. */
    maxLanes: v.nullable(count),
    /**
     * Number of threads that send, each a share of the load; `auto` begins with one, and adds one after each level at which
     * they were the limit. Absent: the main thread sends the whole load.
     */
    workers: v.exactOptional(
      v.union([v.literal("auto"), v.pipe(count, v.maxValue(MOST_WORKERS, `must be ${MOST_WORKERS} or less`))]),
    ),
    /** The agents that send instead of this process, each with `workers` threads. Absent: this process sends. */
    bus: v.exactOptional(busSchema()),
    /** Addresses of this host to use for connections to the servers, in turn. Absent: the system chooses. */
    sourceAddresses: v.exactOptional(
      v.pipe(v.array(addressSchema(), "must be a list of addresses"), v.nonEmpty("must have an address")),
    ),
    /** Set if a compatible mode joins other processes in one fleet, as native commands always do. Absent: not at all. */
    fleet: v.exactOptional(v.literal("mpi", "must be mpi")),
    /** A request fails when it receives no byte for this time. */
    stallTimeoutMs: positive,
    /** A request fails when its response is not complete after this time. Absent: no limit. */
    requestTimeoutMs: v.exactOptional(positive),
    /** A request fails when its response is larger than this: its body, or all its messages, decompressed. Default: 256 MiB */
    maxResponseBytes: v.optional(
      v.pipe(count, v.maxValue(MOST_RESPONSE_BYTES, `must be ${MOST_RESPONSE_BYTES} or less`)),
    ),
    /** Maximum number of requests in flight, above which the run ends. Absent: as many as this host allows. */
    maxOutstanding: v.exactOptional(count),
    /** Whether the ranks of an MPI job begin each level together and measure it until it is stable on all ranks. */
    isMpi: v.boolean(),
  });
}

/** Returns the schema of the effect of failed requests on the run. */
function failuresSchema() {
  const ratio = v.pipe(v.number(), atLeast(0), v.maxValue(1, "must be 1 or less"));
  /** The run ends when the ratio of failed requests, 0 to 1, exceeds this; 0: at the first failure; null: never. */
  return v.object({ maxRatio: v.nullable(ratio) });
}

/** Hardware of the server, for the capacity answer of reports. */
export type CapacityPlan = PlanOf<typeof capacitySchema>;

function capacitySchema() {
  const count = wholeSchema(1);
  return v.object({
    /** Number of GPUs of the measured server. */
    gpuCount: count,
    /** Price of one GPU for one hour, in any currency. Absent: no cost is reported. */
    gpuHourPrice: v.exactOptional(aboveZeroSchema()),
    /** Number of users to serve. Absent: no number of GPUs is reported. */
    targetUsers: v.exactOptional(count),
  });
}

/** Repetition of the whole run, including its warm-up. */
export type RepeatPlan = PlanOf<typeof repeatSchema>;

/** Returns the schema of a repetition. @param metric the schema of a metric */
export function repeatSchema(metric: Schema<MetricPlan>) {
  const runs = wholeSchema(2);
  return v.object({
    atLeast: runs,
    /** `atLeast` or more. */
    atMost: runs,
    /** Precision that ends the repetition between `atLeast` and `atMost`. Absent: exactly `atLeast` runs, which equals `atMost`. */
    until: v.exactOptional(precisionSchema(metric)),
  });
}

/** Outputs to print and write. A front door may add to it. */
export interface OutputsPlan extends PlanOf<typeof outputsSchema> {}

function outputsSchema() {
  const port = v.pipe(v.number(), isWhole(), atLeast(0), v.maxValue(65_535, "must be 65535 or less"));
  const file = pathSchema();
  return v.object({
    style: v.picklist(["perf_analyzer", "genai-perf", "rampart"]),
    /** 0, 1 (`-v`: also each window) or 2 (`-v -v`: also requests and responses). */
    verbosity: v.picklist([0, 1, 2]),
    files: v.record(v.string(), file) as Schema<OutputFilesPlan>,
    /** Whether the CSV has additional columns. */
    isVerboseCsv: v.boolean(),
    /** Whether to show the state of the run. Default: true if `style` is `rampart`; less often if the output is not a terminal */
    isLive: v.optional(v.boolean()),
    /** Whether to show a single level as lines. Default: as a table */
    showsLines: v.exactOptional(v.literal(true)),
    /** Port of this host at which to serve the state of the run, only locally; 0: a free port. Absent: not served. */
    watchPort: v.optional(port),
    /** OTLP endpoint to which the metrics of the run are sent, as HTTP with JSON, while it lasts. Absent: not sent. */
    otlpUrl: v.optional(v.pipe(v.string(), v.url("must be a URL"))),
  });
}
