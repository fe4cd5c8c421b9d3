import type { MixMemberPlan } from "../plan/groups/mix.ts";
import type { Text } from "../plan/messages.ts";
import type { MockPlan } from "../plan/mock.ts";
import type { Plan, TargetPlan } from "../plan/plan.ts";
import type { Problem } from "../plan/problem.ts";
import type { Schema } from "../plan/schema.ts";
import type { ClientOptions, LoadClient } from "../transport/client.ts";
import type { Failure } from "../transport/failure.ts";
import type { Endpoint, Header, WireRequest } from "../transport/request.ts";
import type { SharedMemoryKind, SharedRegion } from "../transport/shared-memory/shared-memory.ts";
import type { ReadStreamed } from "../transport/streamed-responses.ts";
import type { InferCodec, Payload, ResponseReader } from "./content.ts";
import type { ServiceApi } from "./probe.ts";
import type { ComposingModel, ServerCounters } from "./server-counters.ts";
import type { TensorSpec } from "./tensor.ts";

/** Unit of throughput of kinds that set none: inferences per second. Each item of a batch counts. */
export const DEFAULT_THROUGHPUT_UNIT = "infer/s";

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

/** Traits of a service whose requests have one input and do not depend on each other. */
export const SEPARATE_REQUESTS = { batchSize: 1, isSequence: false, isDecoupled: false } as const;

/** The messages of a request. */
export interface MessageForm {
  /** Whether a request has any number of messages; otherwise it has exactly one. */
  readonly isStream: boolean;
  /** Encodes a message from plain data, or returns all problems with it. Absent: the type of messages is unknown. */
  encode?(
    value: unknown,
  ):
    | { readonly bytes: Uint8Array }
    | { readonly problems: readonly { readonly path: string; readonly message: string }[] };
}

/** A model that is ready on a server. */
export interface ListedModel extends ModelInfo {
  /** Reason why it cannot be measured; empty if it can. */
  readonly refusal: string;
  /** The tokenizer, as the server names it: a path on the server, or a model of the hub. Absent: the server does not name it. */
  readonly tokenizer?: string;
}

/** A server's access to shared memory. */
export interface ServiceSharedMemory {
  readonly kind: SharedMemoryKind;
  /** Bytes of one item of an output of unspecified size. */
  readonly outputBytes: number;
  register(region: SharedRegion): Query;
  unregister(region: SharedRegion): Query;
}

/** A query to a server, outside of the load, with a reader for its response. */
export interface Query {
  readonly request: WireRequest;
  /**
   * Address of another server, for queries that the target's server does not answer: `host:port` or a URL. Absent: the
   * target's server.
   */
  readonly url?: string;
  /** Returns the response as plain data. @throws ProtocolError */
  read(body: Uint8Array): unknown;
  /** Formats the response for `-v -v`. */
  format(body: Uint8Array): string;
}

/** Sends a query and returns the response. @param what completes "failed to get …" in errors; empty: no prefix */
export type Ask = (query: Query, what: string) => Promise<unknown>;

/** The query of a server's counters. */
export interface StatisticsQuery {
  readonly query: Query;
  read(response: unknown): ServerCounters[];
}

/** Trace settings of a server: their values, by their names in its protocol. */
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
  /**
   * Returns the next turn as it is sent, with the data that it needs from previous turns. @param turn the turn's payload
   * in the data
   */
  nextRequest(turn: Payload): Payload;
  /** Returns whether to skip this turn, because the user has sent it in an earlier session. Absent: no turn is skipped. */
  skips?(turn: Payload): boolean;
  /**
   * Extracts from a successful response the values that later turns need, and hides the secrets in its bodies. Absent:
   * nothing is extracted.
   * @returns the reason why the request has failed, if a value is missing; undefined otherwise
   */
  takeValues?(bodies: readonly Uint8Array[], headers: readonly Header[]): string | undefined;
  /** Called when the turn has failed. Returns the failure without secrets. Absent: there are no secrets. */
  endTurn?(failure: Failure): Failure;
  /** Adds the server's response to the last turn. Returns the reason why the session cannot continue; undefined if it can. */
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

/** The form of requests: a model's tensors; payloads, sent unchanged; calls with any number of messages; `mixed`: each member's form. */
export type RequestForm = "tensors" | "payloads" | "messages" | "mixed";

/**
 * Known traits of a model under load, or of all models of a mix together. Optional fields are capabilities. They are absent if the
 * service lacks them.
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
  /**
   * Whether to report the responses of each request, as with `isDecoupled`, although the model is not decoupled. Default: false.
   */
  readonly hasManyResponses?: boolean;
  /** Warnings for the user, one sentence each. */
  readonly warnings: readonly Text[];
  /** Returns the query of the server's counters; undefined if it has none. Queries the server when first called. */
  readonly statistics?: () => Promise<StatisticsQuery | undefined>;
  /** Models that the model calls, whose counters the server also reports. */
  readonly composing?: readonly ComposingModel[];
  /** Whether the server caches responses of the model, or of a model that it calls, and reports this separately. */
  readonly isResponseCacheEnabled?: boolean;
  /** Whether the model itself is cached. */
  readonly isOwnResponseCacheEnabled?: boolean;
  /** Sizes of inputs with variable shapes, by name, without the batch dimension. */
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
  /** Present if tensors are in memory shared with the server, instead of in requests and responses. */
  readonly sharedMemory?: ServiceSharedMemory;
  /**
   * Returns a function that starts a conversation of the user with the given number, from 0. A user has one conversation
   * after another.
   */
  readonly conversations?: () => Promise<(user: number) => Conversation>;
  /** Judges the content of responses and extracts values from them, by the target's rules. Absent: responses are not decoded. */
  readonly responseReader?: ResponseReader | undefined;
  /** Whether to read responses before sending new requests, so that sending does not delay tokens' timestamps. */
  readonly readsFirst?: boolean;
}

/** A model on a server, ready for load. */
export interface Service extends ServiceTraits {
  readonly codec: InferCodec;
}

/** A target's address, and properties of the load's requests. Queries are never compressed. */
export interface ServiceAddress
  extends Pick<Endpoint, "headers" | "successStatuses" | "acceptsEncodings" | "compression"> {
  /** `host:port` or a URL. */
  readonly url: string;
  readonly wire: Wire;
  readonly defaultPort: number;
}

/**
 * A kind of target: everything that the rest of the program needs to know about it, so that other code does not test its kind. `T` is its
 * part of the plan.
 */
export interface TargetKind<T extends TargetPlan> {
  schema(): Schema<T>;
  /** Returns the target's servers; empty if the run starts the server. */
  urls(target: T): readonly string[];
  /** Describes the target's address, for the head of a report. */
  describe(target: T): string;
  /** Describes what is measured, for the head of a report. Absent: the name and version of the model. */
  subject?(target: T): string;
  /** True if no server of this kind reports counts and times. Default: false. */
  readonly hasNoStatistics?: true;
  /** The unit of throughput in reports. Default: {@link DEFAULT_THROUGHPUT_UNIT}. */
  readonly throughputUnit?: string;
  /**
   * True if requests are many and short, and not prompts: then the rehearsal before the load is short, and a repeated request does not hit
   * a prompt cache. Default: false.
   */
  readonly hasShortRequests?: true;
  takes(target: T): RequestForm;
  exported(target: T): ExportedTarget;
  /** True if requests are sent without a network. Absent: false. */
  readonly isInProcess?: true;
  /** Line in perf_analyzer's documentation that such a server prints once it has started. Absent: none. */
  readonly startedLine?: string;
  /** Returns conflicts between the target and the rest of the plan. Absent: no conflicts. */
  check?(target: T, plan: Plan): Problem[];
  /** Returns the targets that share the load. Absent: this is a single target. */
  members?(target: T): readonly MixMemberPlan[];
  /** Returns the target with another seed for its random values. Absent: it has none. */
  withSeed?(target: T, seed: number): T;
  /** Registers secrets that reports must not show. Absent: there are none. */
  registerSecrets?(target: T): void;
  /** Returns the server that the run starts, and the protocol that the run uses. Absent: the run does not start it. */
  toMock?(target: T): { readonly plan: MockPlan; readonly kind: "http" | "grpc" | "chat" };
  /** Returns the server to measure, once the run has started it on this port. Absent: the run does not start it. */
  toServer?(target: T, port: number): TargetPlan;
}

/** A target's names in profile exports. */
export interface ExportedTarget {
  readonly serviceKind: string;
  /** Name in perf_analyzer's list of settings. Default: `serviceKind` in capitals. */
  readonly settingsName?: string;
  /** True if that list shows a batch size only from 2 on. Default: false. */
  readonly hidesSingleBatch?: true;
  /** Path of requests; empty if the model's name is enough. */
  readonly endpoint: string;
  /** JSON to write instead of each request's contents. Absent: the contents are written. */
  readonly requestInputs?: string;
  /** JSON to write instead of each response's contents. Absent: the contents are written. */
  readonly responseOutputs?: string;
}

/** A service kind: one folder in `service/`, one line in the registry. `T` is its part of the plan. */
export interface ServiceKind<T extends TargetPlan> extends TargetKind<T> {
  address(target: T): ServiceAddress;
  /** Returns the path of requests, or its beginning, without a leading slash. */
  path(target: T): string;
  /** Name of such a server in errors: `a KServe v2 server`. */
  readonly server: string;
  readonly api: ServiceApi;
  /** Loads the front of a target, without queries. */
  open(target: T): ServiceFront | Promise<ServiceFront>;
  /**
   * Starts the server that a target describes; the run ends it. Absent: the run connects to the target's address.
   * @throws UserError or RunError if it cannot be started
   */
  startServer?(target: T): Promise<StartedServer>;
}

/** A server that a run starts itself, with its own clients. */
export interface StartedServer {
  /** Resolves when the server can be queried, with warnings for the user, one sentence each. Rejects with RunError. */
  readonly ready: Promise<readonly string[]>;
  createClient(options: ClientOptions): LoadClient;
  close(): Promise<void>;
}

/** A target's service before the first query. */
export interface ServiceFront {
  /** Reads the messages of the service's streams. Absent: it has no streams. */
  readonly readStreamed?: ReadStreamed | undefined;
  /**
   * Queries the server about the model. Sends the first queries before it returns.
   * @throws RunError when the model or a setting is not supported
   */
  setUp(ask: Ask): Promise<Service>;
  /** Returns the queries of the server's trace settings. Absent: it has none. */
  readonly traceQueries?: () => Promise<TraceQueries>;
  /** Queries the server for all ready models, sorted by name. */
  listModels(ask: Ask): Promise<ListedModel[]>;
}
