import type { Plan, TargetPlan } from "../plan/plan.ts";
import type { Problem } from "../plan/problem.ts";
import type { Builders, Schema } from "../plan/schema.ts";
import type { CreateAnswerCheck } from "../transport/answer-check.ts";
import type { Failure } from "../transport/failure.ts";
import type { Header, MessageCompression, WireRequest } from "../transport/request.ts";
import type { SharedMemoryKind, SharedRegion } from "../transport/shared-memory/shared-memory.ts";
import type { ReadStreamed } from "../transport/streamed-responses.ts";
import type { ComposingModel, ServerCounters } from "./statistics.ts";
import type { SharedPlace, Tensor, TensorSpec } from "./tensor.ts";

/** What every service kind offers the run: what its model takes, and requests and responses as bytes. No sockets, no clocks. */

/** A model as a load test sees it. */
export interface ModelInfo {
  readonly name: string;
  /** The version asked for; empty for the server's choice. */
  readonly version: string;
  /** Largest batch the server forms; 0 when the model has no batch dimension. */
  readonly maxBatchSize: number;
  /** Sorted by name. */
  readonly inputs: readonly TensorSpec[];
  /** Sorted by name. */
  readonly outputs: readonly TensorSpec[];
}

/** A model a server has ready. */
export interface ListedModel extends ModelInfo {
  /** Why this version cannot measure it; empty when it can. */
  readonly refusal: string;
}

/** A request's body as it is sent, where the data gives it whole. */
export interface Payload {
  readonly bytes: Uint8Array;
  /** Of a turn of a conversation: which one it belongs to, and its pause before the next turn; for exports. */
  readonly session?: { readonly id: string; readonly delayMs: number | undefined };
}

/** What a request is made of. */
export type RequestContent = readonly Tensor[] | Payload;

/** What a response holds: outputs by name, or its body as it came, which lies in memory that is used again. */
export type ResponseContent = ReadonlyMap<string, Tensor> | Uint8Array;

/** A decoded inference response. */
export interface InferResponse<R extends ResponseContent = ResponseContent> {
  /** The request's id; empty when the server sent none. Absent where requests have none. */
  readonly id?: string;
  readonly outputs: R;
  /** The response as `-v -v` prints it; costs more than all the rest, so ask only for what is printed, and before the body is used again. */
  readonly describe: () => string;
}

/** A request's place in a sequence, as the server is told. */
export interface SequenceMark {
  /** Correlation id, 1 or more. */
  readonly id: number;
  readonly isStart: boolean;
  readonly isEnd: boolean;
}

/** Encodes and decodes one model's inference requests for one protocol. A service gets contents of the form that its target takes. */
export interface InferCodec<C extends RequestContent = RequestContent, R extends ResponseContent = ResponseContent> {
  /**
   * @param idDigits number of decimal digits to leave room for as the request id; 0 sends none
   * @param sequenceStamp what `stampSequence` gave for a request that belongs to a sequence; others of its length can take its place
   * @throws UserError when a tensor cannot be written in the chosen format
   */
  encode(content: C, idDigits: number, sequenceStamp?: Uint8Array): WireRequest;
  /** The part of a request's stamp that tells of its sequence; it follows the id's digits. */
  stampSequence(mark: SequenceMark): Uint8Array;
  /** A run's checks of answers: those of its slots share what they learn of them. */
  answerChecks(): CreateAnswerCheck;
  /** Throws `ProtocolError` when the body is not a response. `jsonBytes` is the length of its JSON part, 0 for all of it. */
  decode(body: Uint8Array, jsonBytes: number): InferResponse<R>;
  /** A failure with the server's own explanation in it, where the body has one. */
  explain(failure: Failure, body: Uint8Array | undefined): Failure;
  /** The request as `-v -v` prints it. */
  describe(request: WireRequest): string;
  /** The codec of requests whose outputs the server puts into shared places, by name; absent where the kind has none. */
  withOutputsAt?(places: ReadonlyMap<string, SharedPlace>): InferCodec<C, R>;
}

/** A codec of requests that are tensors. */
export type TensorCodec = InferCodec<readonly Tensor[], ReadonlyMap<string, Tensor>>;
/** A codec of requests that are payloads: their bytes are sent, and answers kept, as they are. */
export type PayloadCodec = InferCodec<Payload, Uint8Array>;

/** Memory that a server shares with this process. */
export interface ServiceSharedMemory {
  readonly kind: SharedMemoryKind;
  /** Bytes of one item of an output whose size the model does not tell. */
  readonly outputBytes: number;
  register(region: SharedRegion): Query;
  unregister(region: SharedRegion): Query;
}

/** A question to a server, outside the load, and how to read its answer. */
export interface Query {
  readonly request: WireRequest;
  /** The answer as plain data. Throws `ProtocolError`. */
  read(body: Uint8Array): unknown;
  /** The answer as `-v -v` prints it. */
  format(body: Uint8Array): string;
}

/** Asks a server and reads its answer. @param what completes "failed to get …" should it fail; empty: the failure is told by itself */
export type Ask = (query: Query, what: string) => Promise<unknown>;

/** The question for a server's counters. */
export interface StatisticsQuery {
  readonly query: Query;
  read(answer: unknown): ServerCounters[];
}

/** Trace settings of a server by the names that its protocol gives them, each with its values. */
export type TraceValues = Readonly<Record<string, readonly string[]>>;

/** The questions about a server's trace settings, those of all models alike. */
export interface TraceQueries {
  read(): Query;
  write(values: TraceValues): Query;
  /** The settings of an answer to either. Throws `ProtocolError`. */
  parse(answer: unknown): TraceValues;
}

/** One session's talk with a server: what its next request says of the turns before. */
export interface Conversation {
  /**
   * The next turn as it is to be sent: with all that was said before. The first turn is sent as it is.
   * @param turn the turn's payload as the data has it
   */
  ask(turn: Uint8Array): Uint8Array;
  /**
   * Takes the server's answer to the last turn.
   * @param reads its responses, in order
   * @returns why there is no going on from it; undefined when there is
   */
  hear(reads: readonly Uint8Array[]): string | undefined;
}

/** What carries a service's requests. */
export type Wire = "http" | "grpc" | "grpc-stream";

/** What requests are: tensors of a model, or payloads, bytes that the data gives as they are. */
export type RequestForm = "tensors" | "payloads";

/** A model on a server, ready to be loaded: what every service has, then what only some have, each absent where there is none. */
export interface Service {
  readonly model: ModelInfo;
  readonly codec: InferCodec;
  readonly wire: Wire;
  /** Items per request. */
  readonly batchSize: number;
  /** Requests belong to sequences. */
  readonly isSequence: boolean;
  /** A request may have any number of responses. */
  readonly isDecoupled: boolean;
  /** Things the user should know, one sentence each. */
  readonly warnings: readonly string[];
  /** How to ask for the server's counters; resolves with undefined where it has none. The server is asked at the first call. */
  readonly statistics?: () => Promise<StatisticsQuery | undefined>;
  /** Models that the model calls and whose counters the server reports too. */
  readonly composing?: readonly ComposingModel[];
  /** True when the server answers the same request to the model, or to one that it calls, from a cache, which it reports apart. */
  readonly isResponseCacheEnabled?: boolean;
  /** True when the cache is the model's own. */
  readonly isOwnResponseCacheEnabled?: boolean;
  /** Sizes of inputs whose shape varies, by name, without the batch dimension. */
  readonly shapes?: Readonly<Record<string, readonly number[]>>;
  /** Where tensors are to lie in memory shared with the server, and not in requests and responses. */
  readonly sharedMemory?: ServiceSharedMemory;
  /** What begins conversations; loaded when called. */
  readonly conversations?: () => Promise<() => Conversation>;
  /** Responses are read before new requests are sent, so that sending delays no token's time. */
  readonly readsFirst?: boolean;
}

/** Where a target listens, as its plan says. */
export interface ServiceAddress {
  /** `host:port` or a URL. */
  readonly url: string;
  readonly wire: Wire;
  readonly defaultPort: number;
  readonly headers: readonly Header[];
  /** How the load's requests are compressed, with gRPC; questions never are. */
  readonly compression?: MessageCompression | undefined;
}

/** A kind of target: all that the rest of the program asks about one, instead of testing its kind. `T` is its part of the plan. */
export interface TargetKind<T extends TargetPlan> {
  /** Describes the target's part of a plan. */
  schema(v: Builders): Schema<T>;
  /** The servers it names; empty where the run starts its own. */
  urls(target: T): readonly string[];
  /** Where it is, in words for the head of a report. */
  describe(target: T): string;
  /** What its requests are. */
  takes(target: T): RequestForm;
  /** Its names in profile exports. */
  exported(target: T): ExportedTarget;
  /** What of the plan does not fit the target, besides what is wrong with the target itself. Absent: nothing. */
  check?(target: T, plan: Plan): Problem[];
  /** Registers what of it no report may show. Absent: it has no secrets. */
  registerSecrets?(target: T): void;
  /** The server that is measured, once the run has started it at this port. Absent: it runs already. */
  toServer?(target: T, port: number): TargetPlan;
}

/** A target's names in profile exports. */
export interface ExportedTarget {
  readonly serviceKind: string;
  /** The path of its requests; empty where the model's name is enough. */
  readonly endpoint: string;
}

/** A service kind: one folder under `service/`, one line in the registry. `T` is its part of the plan. */
export interface ServiceKind<T extends TargetPlan> extends TargetKind<T> {
  address(target: T): ServiceAddress;
  /** The path that requests go to, or begin with, without a leading slash. */
  path(target: T): string;
  /** How its servers are told from others. */
  readonly api: ServiceApi;
  /** Loads what speaks with a target; nothing is asked yet. */
  open(target: T): ServiceFront | Promise<ServiceFront>;
}

/** How the servers of a kind are told from others: by what they answer to a GET over HTTP. */
export interface ServiceApi {
  /** For errors: `kserve`. */
  readonly name: string;
  readonly path: string;
  /** What stands in the answer of such a server alone. */
  readonly sign: RegExp;
}

/** A target's service, before anything was asked. */
export interface ServiceFront {
  /** What reads the messages of the service's streams; absent where it has none. */
  readonly readStreamed?: ReadStreamed | undefined;
  /**
   * Asks the server about the model; the first questions are put before the call returns. Throws `RunError` when the model or a setting
   * is not supported.
   */
  setUp(ask: Ask): Promise<Service>;
  /** How to ask for the server's trace settings; loaded when called. Absent where it has none. */
  readonly traceQueries?: () => Promise<TraceQueries>;
  /** Asks the server for the models it has ready, sorted by name; the target's model is not looked at. */
  listModels(ask: Ask): Promise<ListedModel[]>;
}
