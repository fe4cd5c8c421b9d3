import type { Header } from "../request.ts";

/** A successful response as a server sends it. */
export interface SampleResponse {
  /** HTTP: headers besides the length of the body. Default: none. */
  readonly headers?: readonly Header[];
  /** HTTP: the body, or the events of a stream. gRPC: the messages. */
  readonly parts: readonly Uint8Array[];
  /** HTTP: whether the parts are the events of a stream. Default: false. */
  readonly isEvents?: true;
  /** gRPC: whether each message of a request gets the parts. Default: false; the parts are sent once per request. */
  readonly isPerMessage?: true;
}

/** Returns the response to a request. @param request gRPC: the last message of the request; HTTP: empty */
export type ResponseRequest = (request: Uint8Array) => SampleResponse;
