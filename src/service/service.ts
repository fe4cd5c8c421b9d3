import type { MixMemberPlan } from "../plan/groups/mix.ts";
import type { Text } from "../plan/messages.ts";
import type { MockPlan } from "../plan/mock.ts";
import type { Plan, TargetPlan } from "../plan/plan.ts";
import type { Problem } from "../plan/problem.ts";
import type { Schema } from "../plan/schema.ts";
import type { ClientOptions, LoadClient } from "../transport/client.ts";
import type { Failure } from "../transport/failure.ts";
import type { Header, MessageCompression, WireRequest } from "../transport/request.ts";
import type { SharedMemoryKind, SharedRegion } from "../transport/shared-memory/shared-memory.ts";
import type { ReadStreamed } from "../transport/streamed-responses.ts";
import type { InferCodec, Payload, ResponseReader } from "./content.ts";
import type { ServiceApi } from "./probe.ts";
import type { ComposingModel, ServerCounters } from "./server-counters.ts";
import type { TensorSpec } from "./tensor.ts";

/** The unit of throughput of kinds that name none: inferences, each item of a batch counted. */
export const DEFAULT_THROUGHPUT_UNIT = "infer/s";

/** A model. */
export interface ModelInfo {
  readonly name: string;
  /** The requested version; empty: the server chooses. */
  readonly version: string;
  /** The server's maximum batch size; 0 when the model has no batch dimension. */
  readonly maxBatchSize: number;
  /** Sorted by name. */
  readonly inputs: readonly TensorSpec[];
  /** Sorted by name. */
  readonly outputs: readonly TensorSpec[];
  /** Present when requests consist of messages. */
  readonly messages?: MessageForm;
}

/** Returns a model without known tensors. */
export function modelNamed(name: string, version = ""): ModelInfo {
  return { name, version, maxBatchSize: 0, inputs: [], outputs: [] };
}

/** The traits of a service whose requests have one input, and nothing to do with each other. */
export const SEPARATE_REQUESTS = { batchSize: 1, isSequence: false, isDecoupled: false } as const;

/** How a request consists of messages. */
export interface MessageForm {
  /** Whether a request has any number of messages; otherwise it has one. */
  readonly isStream: boolean;
  /** Encodes a message from plain data, or returns all that is wrong with it. Absent: the type of messages is not known. */
  encode?(
    value: unknown,
  ):
    | { readonly bytes: Uint8Array }
    | { readonly problems: readonly { readonly path: string; readonly message: string }[] };
}

/** A model that a server has ready. */
export interface ListedModel extends ModelInfo {
  /** Why it cannot be measured; empty when it can. */
  readonly refusal: string;
  /** The tokenizer, as the server names it: a path there, or a model of the hub. Absent: it does not say. */
  readonly tokenizer?: string;
}

/** How a server accesses shared memory. */
export interface ServiceSharedMemory {
  readonly kind: SharedMemoryKind;
  /** Bytes of one item of an output of unspecified size. */
  readonly outputBytes: number;
  register(region: SharedRegion): Query;
  unregister(region: SharedRegion): Query;
}

/** A query to a server, outside of the load, and how to read its response. */
export interface Query {
  readonly request: WireRequest;
  /** Address of another server, for what the target's own does not answer: `host:port` or a URL. Absent: the target's server. */
  readonly url?: string;
  /** Returns the response as plain data. @throws ProtocolError */
  read(body: Uint8Array): unknown;
  /** Formats the response for `-v -v`. */
  format(body: Uint8Array): string;
}

/** Sends a query and returns the response. @param what completes "failed to get …" in errors; empty: no such prefix */
export type Ask = (query: Query, what: string) => Promise<unknown>;

/** The query of a server's counters. */
export interface StatisticsQuery {
  readonly query: Query;
  read(response: unknown): ServerCounters[];
}

/** Trace settings of a server by their names in its protocol, each with its values. */
export type TraceValues = Readonly<Record<string, readonly string[]>>;

/** The queries of a server's global trace settings. */
export interface TraceQueries {
  read(): Query;
  write(values: TraceValues): Query;
  /** Parses the response to either query. @throws ProtocolError */
  parse(response: unknown): TraceValues;
}

/** One session with a server. Builds requests that include the previous turns, or values of their responses. */
export interface Conversation {
  /** Returns the next turn as sent, with what it needs of the previous turns. @param turn the turn's payload in the data */
  nextRequest(turn: Payload): Payload;
  /** Whether the user has sent this turn in an earlier session, so that it is left out. Absent: none is. */
  skips?(turn: Payload): boolean;
  /**
   * Takes what later turns need of a successful response, and hides the secrets in its bodies. Absent: nothing is taken.
   * @returns why the request has failed, because something is not there; undefined when all is
   */
  takeValues?(bodies: readonly Uint8Array[], headers: readonly Header[]): string | undefined;
  /** Called when the turn has failed. Returns the failure without secrets. Absent: it has none. */
  endTurn?(failure: Failure): Failure;
  /** Adds the server's response to the last turn. Returns why the session cannot continue; undefined when it can. */
  addResponse(reads: readonly Uint8Array[]): string | undefined;
}

/**
 * The protocol of a service's requests.
 *
 * - `grpc`: each request is a unary call
 * - `grpc-stream`: each request is a message on a long-lived stream, which carries many requests
 * - `grpc-call`: each request is a separate call, with any number of messages each way
 */
export type Wire = "http" | "grpc" | "grpc-stream" | "grpc-call";

/** The form of requests: a model's tensors; payloads, sent unchanged; calls with any number of messages; `mixed`: that of each member. */
export type RequestForm = "tensors" | "payloads" | "messages" | "mixed";

/**
 * What is known of a model under load, or of all models of a mix together. Optional fields are capabilities; they are absent when the
 * service does not have them.
 */
export interface ServiceTraits {
  readonly model: ModelInfo;
  readonly wire: Wire;
  /** Items per request. */
  readonly batchSize: number;
  /** Whether requests belong to sequences. */
  readonly isSequence: boolean;
  /** Whether a request may have any number of responses. */
  readonly isDecoupled: boolean;
  /** Whether to report the responses of each request, as with `isDecoupled`, although the model is not decoupled. Default: false. */
  readonly hasManyResponses?: boolean;
  /** Warnings for the user, one sentence each. */
  readonly warnings: readonly Text[];
  /** Returns how to query the server's counters; undefined when it has none. Queries the server when first called. */
  readonly statistics?: () => Promise<StatisticsQuery | undefined>;
  /** Models that the model calls, whose counters the server also reports. */
  readonly composing?: readonly ComposingModel[];
  /** Whether the server caches responses of the model, or of one that it calls, and reports that separately. */
  readonly isResponseCacheEnabled?: boolean;
  /** Whether the model itself is cached. */
  readonly isOwnResponseCacheEnabled?: boolean;
  /** Sizes of inputs with variable shapes, by name, without the batch dimension. */
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
  /** Present when tensors are in memory shared with the server instead of requests and responses. */
  readonly sharedMemory?: ServiceSharedMemory;
  /** Returns a function that starts a conversation of the user with this number, from 0. A user has one after the other. */
  readonly conversations?: () => Promise<(user: number) => Conversation>;
  /** Judges the content of responses and extracts values from them, by the target's rules. Absent: responses are not decoded. */
  readonly responseReader?: ResponseReader | undefined;
  /** Whether to read responses before sending new requests, so that sending does not delay tokens' times. */
  readonly readsFirst?: boolean;
}

/** A model on a server, ready for load. */
export interface Service extends ServiceTraits {
  readonly codec: InferCodec;
}

/** A target's address. */
export interface ServiceAddress {
  /** `host:port` or a URL. */
  readonly url: string;
  readonly wire: Wire;
  readonly defaultPort: number;
  readonly headers: readonly Header[];
  /** HTTP only: the statuses of the load's successful responses. Default: 200 to 299. */
  readonly successStatuses?: readonly number[] | undefined;
  /** HTTP only: the load's responses may be encoded, such as by gzip, because nothing reads them. Default: false. */
  readonly acceptsEncodings?: boolean | undefined;
  /** Compression of the load's gRPC requests. Queries are never compressed. */
  readonly compression?: MessageCompression | undefined;
}

/** A kind of target: everything that the rest of the program needs to know about it, so that nothing else tests its kind. `T` is its part of the plan. */
export interface TargetKind<T extends TargetPlan> {
  /** Returns the schema of the target's part of a plan. */
  schema(): Schema<T>;
  /** Returns the target's servers; empty when the run starts its own. */
  urls(target: T): readonly string[];
  /** Describes where it is, for the head of a report. */
  describe(target: T): string;
  /** Describes what is measured there, for the head of a report. Absent: the model by its name and version. */
  subject?(target: T): string;
  /** No server of this kind reports its own counts and times. Default: false. */
  readonly hasNoStatistics?: true;
  /** The unit of throughput in reports. Default: {@link DEFAULT_THROUGHPUT_UNIT}. */
  readonly throughputUnit?: string;
  /**
   * Requests are many and short, and are not prompts: the rehearsal before the load is short, and repeating one does not hit a prompt cache.
   * Default: false.
   */
  readonly hasShortRequests?: true;
  /** Returns the form of its requests. */
  takes(target: T): RequestForm;
  /** Returns its names in profile exports. */
  exported(target: T): ExportedTarget;
  /** Whether requests go without a network. Absent: no. */
  readonly isInProcess?: true;
  /** Line that perf_analyzer's documentation shows once such a server has started. Absent: none. */
  readonly startedLine?: string;
  /** Returns conflicts between the target and the rest of the plan. Absent: none. */
  check?(target: T, plan: Plan): Problem[];
  /** Returns the targets that share the load. Absent: it is a single target. */
  members?(target: T): readonly MixMemberPlan[];
  /** Returns the target with another seed of what it draws. Absent: it draws nothing. */
  withSeed?(target: T, seed: number): T;
  /** Registers secrets that no report may show. Absent: it has none. */
  registerSecrets?(target: T): void;
  /** Returns the server that the run starts, and what it is asked for. Absent: it is not started by the run. */
  toMock?(target: T): { readonly plan: MockPlan; readonly kind: "http" | "grpc" | "chat" };
  /** Returns the server to measure, once the run has started it at this port. Absent: it is not started by the run. */
  toServer?(target: T, port: number): TargetPlan;
}

/** A target's names in profile exports. */
export interface ExportedTarget {
  readonly serviceKind: string;
  /** Its name in perf_analyzer's list of settings. Default: `serviceKind` in capitals. */
  readonly settingsName?: string;
  /** Whether that list names a batch size only from 2 on. Default: false. */
  readonly hidesSingleBatch?: true;
  /** Path of its requests; empty when the model's name is enough. */
  readonly endpoint: string;
  /** JSON to write in place of each request's contents. Absent: the contents are written. */
  readonly requestInputs?: string;
  /** JSON to write in place of each response's contents. Absent: the contents are written. */
  readonly responseOutputs?: string;
}

/** A service kind: one folder in `service/`, one line in the registry. `T` is its part of the plan. */
export interface ServiceKind<T extends TargetPlan> extends TargetKind<T> {
  address(target: T): ServiceAddress;
  /** Returns the path of requests, or its beginning, without a leading slash. */
  path(target: T): string;
  /** What such a server is, in errors: `a KServe v2 server`. */
  readonly server: string;
  readonly api: ServiceApi;
  /** Loads the front of a target, without queries. */
  open(target: T): ServiceFront | Promise<ServiceFront>;
  /**
   * Starts the server that a target describes; the run ends it. Absent: the run connects to the target's address.
   * @throws UserError or RunError when it cannot be started
   */
  startServer?(target: T): Promise<StartedServer>;
}

/** A server that a run starts itself, with clients of its own. */
export interface StartedServer {
  /** Resolves when it can be queried, with warnings for the user, one sentence each. Rejects with RunError. */
  readonly ready: Promise<readonly string[]>;
  createClient(options: ClientOptions): LoadClient;
  close(): Promise<void>;
}

/** A target's service before the first query. */
export interface ServiceFront {
  /** Reads the messages of the service's streams; absent when it has none. */
  readonly readStreamed?: ReadStreamed | undefined;
  /**
   * Queries the server about the model. Sends the first queries before it returns.
   * @throws RunError when the model or a setting is not supported
   */
  setUp(ask: Ask): Promise<Service>;
  /** Returns the queries of the server's trace settings; absent when it has none. */
  readonly traceQueries?: () => Promise<TraceQueries>;
  /** Queries the server for all models that are ready, sorted by name. */
  listModels(ask: Ask): Promise<ListedModel[]>;
}
