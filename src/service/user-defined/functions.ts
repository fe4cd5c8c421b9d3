import type { HttpMethod } from "../../transport/request.ts";

/** The functions of a target that a scenario defines, and what they take and return. `I` is the type of its inputs, `O` of its outputs. */

/** An HTTP request. */
export interface CustomHttpRequest {
  /** Path and query: `/v1/score?top=3`. */
  readonly path: string;
  /** Default: `"POST"`, or `"GET"` without a body. */
  readonly method?: HttpMethod;
  /** Headers of this request, besides those of the target. Default: none, or `Content-Type: application/json` for an object as the body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes, text, or an object that is sent as JSON. Default: no body. */
  readonly body?: Uint8Array | string | object;
}

/** A gRPC call: one message, or with `streaming` any number. */
export interface CustomGrpcRequest {
  /** `package.Service/Method`. */
  readonly method: string;
  /** The encoded message. */
  readonly message?: Uint8Array;
  /** With `streaming`: the encoded messages in order, instead of `message`. They are sent at once, which ends the sending side. */
  readonly messages?: readonly Uint8Array[];
  /** Metadata of this call, besides that of the target. Default: none. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The response to one request. The memory of `bytes` and `parts` is reused after the call. */
export interface CustomResponse {
  /** The body or the message; of a stream of events all of them, joined. */
  readonly bytes: Uint8Array;
  /** The messages or server-sent events, in order; the only one when the response is not a stream. */
  readonly parts: readonly Uint8Array[];
  /** Returns the response as UTF-8 text. */
  text(): string;
  /** Parses the response as JSON. @throws SyntaxError */
  json(): unknown;
}

/** Encodes the request of an input. @param index of the input, from 0 */
export type EncodeInput<I> = (
  input: I,
  index: number,
) => CustomHttpRequest | CustomGrpcRequest | Promise<CustomHttpRequest | CustomGrpcRequest>;
/** Decodes a response. */
export type DecodeResponse<O> = (response: CustomResponse) => O;
/** Returns why an output is wrong, or false; undefined or true when it is right. */
export type CheckOutput<I, O> = (output: O, input: I) => string | boolean | undefined;
/** Returns a value of an output: a number for statistics, anything else to be counted; null or undefined when there is none. */
export type ExtractValue<I, O> = (output: O, input: I) => unknown;
/** Returns the inputs. */
export type MakeInputs<I> = () => Iterable<I> | AsyncIterable<I>;
