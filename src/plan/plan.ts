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
 * A complete run as plain data. Every front end builds one, `--dry-run` prints it, and the runner executes it. It holds the functions of its
 * scenario, which are not printed: see `plan/functions.ts`.
 */
export interface Plan extends PlanOf<typeof planRestSchema> {
  readonly target: TargetPlan;
  readonly load: LoadPlan;
  readonly inputs: InputsPlan;
  readonly outputs: OutputsPlan;
}

/** Returns the schema of a plan's parts besides target, load and inputs. @param metric the schema of a metric @param isMetricsUrl whether a text is an address of metrics */
export function planRestSchema(metric: Schema<MetricPlan>, isMetricsUrl: (url: string) => boolean) {
  const assertions = v.array(assertionSchema(metric));
  return v.object({
    /** Version of this format. */
    version: v.literal(1),
    name: filledSchema(),
    /** The parameters of the scenario with their values. Absent: it has none. */
    parameters: v.optional(parametersSchema()),
    /** Used when the model takes sequences. */
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
    /** Seed of all that is drawn, with the seeds of the parts; a whole number. See `planOfRun`. Default: 0. */
    seed: v.optional(integerSchema()),
    /** Absent: one run. */
    repeat: v.exactOptional(repeatSchema(metric)),
    /** How requests are split into groups, besides the tags of their data. Absent: by their data only. */
    tags: v.optional(tagsSchema()),
    /** What a level must keep, for loads that search the highest one that does. Absent: nothing. */
    limits: v.exactOptional(assertions),
    /** What the server runs on, for the capacity answer of reports. Absent: it is not reported. */
    capacity: v.exactOptional(capacitySchema()),
    /** A scenario's function that says whether a response is right. Absent: every response that the service accepts is. */
    check: v.optional(functionSchema()),
    /** A scenario's function that receives each finished request. Absent: none. */
    onRecord: v.optional(functionSchema()),
    outputs: outputsSchema(),
    behaviour: v.exactOptional(behaviourSchema()),
  });
}

/** The parameters of a scenario with the values of this run, by name. Secret values are hidden. */
export type ParametersPlan = PlanOf<typeof parametersSchema>;

/** Where the value of a parameter is from. */
export type ParameterSource = ParametersPlan[string]["from"];

/** Schema of the parameters of a scenario. */
export function parametersSchema() {
  const value = v.union([v.string(), v.number(), v.boolean()]);
  return v.record(v.string(), v.object({ value, from: v.picklist(["command line", "environment", "default"]) }));
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
export type MeasurementPlan = PlanOf<typeof measurementSchema>;

/** How long to measure a level. */
export type MeasurementModePlan = MeasurementPlan["mode"];

/** Reports whether levels are measured in windows until three in a row agree. */
export function isUntilStable(
  mode: MeasurementModePlan,
): mode is Extract<MeasurementModePlan, { readonly stabilityPct: number }> {
  return "stabilityPct" in mode;
}

/** Schema of the mode of a measurement. */
export function measurementModeSchema() {
  const count = wholeSchema(1);
  const positive = aboveZeroSchema();
  const natural = v.pipe(v.number(), atLeast(0));
  const stability = { stabilityPct: natural, maxTrials: count };
  return v.variant("kind", [
    /** Windows of 1.2 × `windowMs` until three in a row agree. */
    v.object({ kind: v.literal("time-windows"), windowMs: positive, ...stability }),
    /** Windows of whole seconds with at least this number of requests, until three in a row agree. */
    v.object({ kind: v.literal("count-windows"), requestsPerWindow: count, ...stability }),
    /**
     * A total number of requests; null: the number that the load defines. With `minDurationMs` it is the lowest number, and the last
     * request is sent (or due, if the load has a schedule) when this time has passed, or later.
     */
    v.object({ kind: v.literal("requests"), count: v.nullable(count), minDurationMs: v.exactOptional(positive) }),
    /**
     * A total duration. With `graceMs`, no request is in flight at the start and none is sent after the end; requests in flight at the
     * end count if they complete within the grace period, and are cancelled otherwise. Without it, a window of a continuing load; that of
     * a closed loop lasts to the end of a round.
     */
    v.object({ kind: v.literal("duration"), durationMs: positive, graceMs: v.optional(natural) }),
    /**
     * Windows of `windowMs`, two or more, until the plan's limits are certainly kept or broken, and no longer than `maxMs`. `withinRatio` is the
     * largest accepted difference between the loads that certainly keep and break them, as a ratio of the lower one.
     */
    v.object({ kind: v.literal("until-resolved"), windowMs: positive, maxMs: positive, withinRatio: positive }),
  ]);
}

/** Schema of the measurement. */
function measurementSchema() {
  const positive = aboveZeroSchema();
  const natural = v.pipe(v.number(), atLeast(0));
  return v.object({
    mode: measurementModeSchema(),
    /** Number of requests before each measurement that are not measured. */
    warmupRequests: wholeSchema(0),
    /** Duration of load before each measurement that is not measured. With `warmupRequests`, both must be reached. Absent: none. */
    warmupMs: v.optional(natural),
    /** Latency for stability and the limit: a percentile from 1 to 99, or null for the mean. */
    percentile: v.nullable(v.pipe(positive, v.ltValue(100, "must be below 100"))),
    /** A level with this latency or more ends the search; null: no limit. */
    latencyLimitMs: v.nullable(positive),
    /** Absent: tokens are not measured. */
    tokens: v.exactOptional(tokensSchema()),
  });
}

/** The NATS server through which agents on other hosts send the load. */
export type BusPlan = PlanOf<typeof busSchema>;

/** Most agents of a run. */
export const MOST_AGENTS = 1000;

/** Schema of the bus. */
export function busSchema() {
  const count = wholeSchema(1);
  return v.object({
    /** Address, or several of one cluster with commas: `nats://USER:PASSWORD@HOST:4222`; `tls://` with TLS. */
    url: v.optional(
      v.pipe(
        v.string(),
        v.check((url) => url === "" || isBusUrl(url), `must be ${BUS_FORM}`),
      ),
      "",
    ),
    /** Number of agents that send. Default: 1. */
    agentCount: v.exactOptional(v.pipe(count, v.maxValue(MOST_AGENTS, `must be ${MOST_AGENTS} or less`))),
    /** Number of agents that may be lost during the run, which then continues without their share. Default: 0. */
    allowLost: v.exactOptional(wholeSchema(0)),
    /** Longest wait for that many agents. Default: 10 s. */
    waitMs: v.exactOptional(v.pipe(v.number(), atLeast(0))),
    /** Files with the login: credentials, or the seed of an NKey. */
    credsFile: v.exactOptional(v.string()),
    nkeyFile: v.exactOptional(v.string()),
    /** PEM files: certificates that are trusted, and this client's certificate and key. */
    caFile: v.exactOptional(v.string()),
    certFile: v.exactOptional(v.string()),
    keyFile: v.exactOptional(v.string()),
  });
}

/** What the address of a bus looks like. */
export const BUS_FORM = "the address of a NATS server: nats://HOST:4222 or tls://HOST:4222";

/** Whether a text is the address of a NATS server, or of several. */
export function isBusUrl(text: string): boolean {
  return text.split(",").every((one) => /^(?:nats|tls|tcp):\/\/[^/\s]+$/.test(one.trim()) && URL.canParse(one.trim()));
}

/** The client that sends requests. */
export type ClientPlan = PlanOf<typeof clientSchema>;

export type CallModePlan = ClientPlan["callMode"];

/** The clients with the protocols that they speak: Rampart's own, and libraries for comparison and as a fallback. */
export const CLIENTS = { own: ["http", "grpc"], undici: ["http"], "grpc-js": ["grpc"] } as const;

/** A client that sends requests. */
export type ClientKind = keyof typeof CLIENTS;

/** Returns the clients that speak a protocol. Absent: all. */
export function clientsOf(protocol?: "http" | "grpc"): ClientKind[] {
  const all = Object.keys(CLIENTS) as ClientKind[];
  return all.filter((kind) => protocol === undefined || (CLIENTS[kind] as readonly string[]).includes(protocol));
}

/** Most threads that send. */
export const MOST_WORKERS = 256;

/** Whether a text is an IP address. */
export function isAddress(text: string): boolean {
  return v.is(addressSchema(), text);
}

/** Schema of an address of this host. */
export function addressSchema() {
  return v.pipe(v.string("must be text"), v.ip("must be an IP address of this host, such as 10.0.0.5"));
}

/** Schema of the client. */
function clientSchema() {
  const count = wholeSchema(1);
  const positive = aboveZeroSchema();
  return v.object({
    kind: v.picklist(clientsOf(), "must be own, undici or grpc-js"),
    /**
     * `sync`: a lane waits for its response; `async`: a lane may have several outstanding requests; `auto`: async for models with sequences
     * or several responses per request, otherwise sync.
     */
    callMode: v.picklist(["sync", "async", "auto"], "must be sync, async or auto"),
    /** Maximum number of lanes (perf_analyzer's worker threads); null: as many as the load needs. */
    maxLanes: v.nullable(count),
    /**
     * Number of threads that send, each a share of the load; `auto` begins with one, and adds one after a level for which they were the limit.
     * Absent: the main thread sends all of it.
     */
    workers: v.exactOptional(
      v.union([v.literal("auto"), v.pipe(count, v.maxValue(MOST_WORKERS, `must be ${MOST_WORKERS} or less`))]),
    ),
    /** The agents that send in place of this process, each with as many threads as there are `workers`. Absent: this process sends. */
    bus: v.exactOptional(busSchema()),
    /** Addresses of this host that connections to the servers come from, in turn. Absent: the system chooses. */
    sourceAddresses: v.exactOptional(
      v.pipe(v.array(addressSchema(), "must be a list of addresses"), v.nonEmpty("must have an address")),
    ),
    /** How a compatible mode joins other processes to one fleet, which Rampart's own commands do by themselves. Absent: not at all. */
    fleet: v.exactOptional(v.literal("mpi", "must be mpi")),
    /** A request fails when it receives no byte for this time. */
    stallTimeoutMs: positive,
    /** A request fails when its response is not complete after this time. Absent: no limit. */
    requestTimeoutMs: v.exactOptional(positive),
    /** A request fails when its response has more bytes: its body, or all its messages together, decompressed. Default: 256 MiB. */
    maxResponseBytes: v.optional(
      v.pipe(count, v.maxValue(MOST_RESPONSE_BYTES, `must be ${MOST_RESPONSE_BYTES} or less`)),
    ),
    /** Most requests in flight, above which the run ends. Absent: as many as the memory, files and ports of this host allow. */
    maxOutstanding: v.exactOptional(count),
    /** The ranks of an MPI job begin each level together and measure it until it is stable on all ranks. */
    isMpi: v.boolean(),
  });
}

/** How failed requests affect the run. */
export type FailuresPlan = PlanOf<typeof failuresSchema>;

/** Schema of how failed requests affect the run. */
function failuresSchema() {
  const ratio = v.pipe(v.number(), atLeast(0), v.maxValue(1, "must be 1 or less"));
  /** The run ends when the ratio of failed requests, 0 to 1, is above this; 0: at the first failure; null: never. */
  return v.object({ maxRatio: v.nullable(ratio) });
}

/** What the server runs on, for the capacity answer of reports. */
export type CapacityPlan = PlanOf<typeof capacitySchema>;

function capacitySchema() {
  const count = wholeSchema(1);
  return v.object({
    /** GPUs of the server that is measured. */
    gpuCount: count,
    /** Price of one GPU for one hour, in any currency. Absent: no cost is reported. */
    gpuHourPrice: v.exactOptional(aboveZeroSchema()),
    /** Users to serve. Absent: no number of GPUs is reported. */
    targetUsers: v.exactOptional(count),
  });
}

/** How often the whole run is repeated, with a warm-up of its own each time. */
export type RepeatPlan = PlanOf<typeof repeatSchema>;

/** Schema of a repetition. @param metric the schema of a metric */
export function repeatSchema(metric: Schema<MetricPlan>) {
  const runs = wholeSchema(2);
  return v.object({
    atLeast: runs,
    /** `atLeast` or more. */
    atMost: runs,
    /** Precision that ends the repetition between the two. Absent: exactly `atLeast` runs, which equals `atMost`. */
    until: v.exactOptional(precisionSchema(metric)),
  });
}

/** What to print and write. A front door may add to it. */
export interface OutputsPlan extends PlanOf<typeof outputsSchema> {}

/** Schema of the outputs. */
function outputsSchema() {
  const port = v.pipe(v.number(), isWhole(), atLeast(0), v.maxValue(65_535, "must be 65535 or less"));
  const file = pathSchema();
  return v.object({
    style: v.picklist(["perf_analyzer", "genai-perf", "rampart"]),
    /** 0, 1 (`-v`: also each window) or 2 (`-v -v`: also requests and responses). */
    verbosity: v.picklist([0, 1, 2]),
    files: v.record(v.string(), file) as Schema<OutputFilesPlan>,
    /** More columns in the CSV. */
    isVerboseCsv: v.boolean(),
    /** Show the state of the run while it lasts. Default: true if `style` is `rampart`, but then less often where it is not a terminal. */
    isLive: v.optional(v.boolean()),
    /** Show a single level as lines instead of a table. Absent: a table. */
    showsLines: v.exactOptional(v.literal(true)),
    /** Serve the state of the run on this port of this host only; 0: a free one. Absent: not served. */
    watchPort: v.optional(port),
    /** Send the metrics of the run to this OTLP endpoint, as HTTP with JSON, while it lasts. Absent: not sent. */
    otlpUrl: v.optional(v.pipe(v.string(), v.url("must be a URL"))),
  });
}
