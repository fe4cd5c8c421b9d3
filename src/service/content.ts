import type { CustomFacts } from "../plan/assertions.ts";
import type { Failure } from "../transport/failure.ts";
import type { KeptEvents } from "../transport/kept-events.ts";
import type { Header, HttpMethod, WireRequest } from "../transport/request.ts";
import type { CreateResponseCheck } from "../transport/response-check.ts";
import type { ResponseRequest } from "../transport/sink/sample-response.ts";
import type { SharedPlace, Tensor } from "./tensor.ts";

/** Contents of requests and responses, with their codecs and readers. */

/** A request that replaces parts of the target's: its method, path and headers. */
export interface PayloadRequest {
  readonly method?: HttpMethod;
  /** Path and query, with the leading slash. */
  readonly path?: string;
  /** Replace headers of the same name. */
  readonly headers?: readonly Header[];
  /** Type of the body, unless a header sets another. */
  readonly contentType?: string;
}

/** A request's body, exactly as in the data. */
export interface Payload {
  /** With `messages`: their text for exports; empty if they have no text. */
  readonly bytes: Uint8Array;
  /** The encoded messages of a request that consists of messages. Absent: `bytes` is the body. */
  readonly messages?: readonly Uint8Array[];
  /** Other parts of the request, for targets whose requests differ in more than the body. */
  readonly request?: PayloadRequest;
  /** Source of the payload, for a codec that needs more than its bytes. */
  readonly origin?: unknown;
  /** True if the same object is sent again, so that its encoding is kept. Default: false. */
  readonly isFixed?: true;
  /** The bytes as exports show them, without secrets. Absent: `bytes`. */
  readonly shown?: Uint8Array;
  /** For exports, in conversations: the session, and the delay before its next turn. */
  readonly session?: { readonly id: string; readonly delayMs: number | undefined };
}

export type RequestContent = readonly Tensor[] | Payload;

/** The contents of a response: its outputs by name, or its body, in memory that is reused. */
export type ResponseContent = ReadonlyMap<string, Tensor> | Uint8Array;

/** A decoded inference response. */
export interface InferResponse<R extends ResponseContent = ResponseContent> {
  /** The request's id; empty if the server sent none. Absent if requests have no ids. */
  readonly id?: string;
  readonly outputs: R;
  /** Formats the response for `-v -v`. Expensive: call it only to print, before the body's memory is reused. */
  readonly describe: () => string;
}

/** A request's position in a sequence, as sent to the server. */
export interface SequenceMark {
  /** Correlation id, 1 or more. */
  readonly id: number;
  readonly isStart: boolean;
  readonly isEnd: boolean;
}

/** Encodes and decodes one model's inference requests for one protocol. The target determines the form of the contents. */
export interface InferCodec<C extends RequestContent = RequestContent, R extends ResponseContent = ResponseContent> {
  /**
   * @param idDigits number of decimal digits to reserve for the request id; 0: no id
   * @param sequenceStamp result of `stampSequence` for a request of a sequence; other stamps of the same length can replace it
   * @throws UserError when a tensor has no representation in the chosen format
   */
  encode(content: C, idDigits: number, sequenceStamp?: Uint8Array): WireRequest;
  /** Creates the sequence part of a request's stamp, which follows the id's digits. Absent: its requests have no sequences. */
  stampSequence?(mark: SequenceMark): Uint8Array;
  /**
   * Creates a run's checks of responses. Its slots share what the checks learn.
   * @param acceptsOtherOutputs whether the model and the outputs of a response are not compared with the request's; default: false
   */
  responseChecks(acceptsOtherOutputs?: boolean): CreateResponseCheck;
  /**
   * Decodes a response. @param jsonBytes length of its JSON part; 0: the whole body @throws ProtocolError if the body is not a
   * response
   */
  decode(body: Uint8Array, jsonBytes: number): InferResponse<R>;
  /** Creates a run's check of the ends of streams. Absent: the protocol shows when a stream is cut off. */
  createCutCheck?(): CutCheck;
  /** Returns the failure with the server's explanation, if the body has one. */
  explain(failure: Failure, body: Uint8Array | undefined): Failure;
  /** Formats the request for `-v -v`. */
  describe(request: WireRequest): string;
  /** Returns a small successful response, which the in-process sink sends during the rehearsal. Absent: an empty response. */
  readonly sampleResponse?: ResponseRequest;
  /**
   * Returns the codec of requests whose outputs the server writes to shared memory, by name. Absent: the service kind does not support
   * it.
   */
  withOutputsAt?(places: ReadonlyMap<string, SharedPlace>): InferCodec<C, R>;
}

/** Finds streams that lack the end mark of the server's other streams. */
export interface CutCheck {
  /** Whether a stream of these events lacks the mark, and no stream so far had it. */
  isUndecided(events: StreamEvents): boolean;
  /** Explains why the stream is not complete; undefined if it is, and while no stream has had the mark. */
  explain(events: StreamEvents): CutStream | undefined;
}

/** The events of a stream; none for a single response. */
export type StreamEvents = Pick<KeptEvents, "count" | "lastCopies">;

/** The fault of a stream that was cut off, and the end mark that it lacks. */
export interface CutStream {
  readonly message: string;
  readonly mark: string;
}

/** Codec of requests that consist of tensors. */
export type TensorCodec = InferCodec<readonly Tensor[], ReadonlyMap<string, Tensor>>;
/** Codec of requests that consist of payloads, whose bytes are sent and received unchanged. */
export type PayloadCodec = InferCodec<Payload, Uint8Array>;

/** Reads the responses of a target with rules. */
export interface ResponseReader {
  /** Names of the extracted values, with the meaning of numbers. */
  readonly names: readonly ExtractedName[];
  /**
   * Reads the response to one request.
   * @param bodies responses to the request, in order
   * @param answered the request
   * @returns the extracted values in the order of `names`, null for missing ones; or the failure
   */
  read(bodies: readonly Uint8Array[], answered?: AnsweredContent): readonly unknown[] | Failure;
}

/** A value that a target extracts: its name, and the meaning of numbers. */
export interface ExtractedName extends CustomFacts {
  readonly name: string;
}

/** The request of a response, and its tensors. */
export interface AnsweredContent {
  readonly request: RequestContent;
  readonly tags: Readonly<Record<string, string>>;
  /** Decodes the tensors of each response, in order; empty for targets without tensors. @throws ProtocolError if one is not a response */
  tensors(): readonly (readonly Tensor[])[];
}
