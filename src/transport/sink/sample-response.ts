import type { Header } from "../request.ts";

/** A successful response as a server sends it. */
export interface SampleResponse {
  /** HTTP: headers besides the body's length. Default: none. */
  readonly headers?: readonly Header[];
  /** HTTP: the body, or the events of a stream. gRPC: the messages. */
  readonly parts: readonly Uint8Array[];
  /** HTTP: the parts are the events of a stream. Default: false. */
  readonly isEvents?: true;
  /** gRPC: each message of a request gets the parts. Default: false; the request as a whole gets them. */
  readonly isPerMessage?: true;
}

/** Returns the response to a request. @param request gRPC: its last message; HTTP: empty */
export type ResponseRequest = (request: Uint8Array) => SampleResponse;
