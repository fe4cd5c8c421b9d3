import type { CustomFacts } from "../plan/assertions.ts";
import type { Failure } from "../transport/failure.ts";
import type { Header, HttpMethod } from "../transport/request.ts";
import type { Tensor } from "./tensor.ts";

/** The contents of requests and responses, and what reads those of responses. */

/** A request that replaces parts of the target's: its method, path and headers. */
export interface PayloadRequest {
  readonly method?: HttpMethod;
  /** Path and query, with the leading slash. */
  readonly path?: string;
  /** Replace headers of the same name. */
  readonly headers?: readonly Header[];
  /** The type of the body, unless a header gives another. */
  readonly contentType?: string;
}

/** A request's body, complete as in the data. */
export interface Payload {
  /** With `messages`: their text for exports; empty when they have none. */
  readonly bytes: Uint8Array;
  /** The encoded messages of a request that consists of messages. Absent: `bytes` is the body. */
  readonly messages?: readonly Uint8Array[];
  /** What else differs between requests, for targets whose requests differ in more than the body. */
  readonly request?: PayloadRequest;
  /** What it was made from, for a codec that needs more than its bytes. */
  readonly origin?: unknown;
  /** Whether the same object is sent again, so that its encoding is kept. Default: false. */
  readonly isFixed?: true;
  /** Its bytes for exports, without secrets. Absent: all of them. */
  readonly shown?: Uint8Array;
  /** For exports, in conversations: the session, and the delay before its next turn. */
  readonly session?: { readonly id: string; readonly delayMs: number | undefined };
}

/** The contents of a request. */
export type RequestContent = readonly Tensor[] | Payload;

/** The contents of a response: outputs by name, or its body, in memory that is reused. */
export type ResponseContent = ReadonlyMap<string, Tensor> | Uint8Array;

/** Reads the responses of a target with rules. */
export interface ResponseReader {
  /** The extracted values: their names, and what their numbers count. */
  readonly names: readonly ExtractedName[];
  /**
   * Reads the response to one request.
   * @param bodies its responses, in order
   * @param answered the request
   * @returns the extracted values in the order of `names`, null where there is none; or the failure
   */
  read(bodies: readonly Uint8Array[], answered?: AnsweredContent): readonly unknown[] | Failure;
}

/** A value that a target extracts: its name, and what its numbers count. */
export interface ExtractedName extends CustomFacts {
  readonly name: string;
}

/** What a response answers, and its tensors. */
export interface AnsweredContent {
  readonly request: RequestContent;
  readonly tags: Readonly<Record<string, string>>;
  /** Decodes the tensors of each response, in order; empty for targets without tensors. @throws ProtocolError when one is not a response */
  tensors(): readonly (readonly Tensor[])[];
}
