import type { HttpMethod } from "../../transport/request.ts";

/**
 * The functions of a target that a scenario defines, with their parameters and results. `I` is the type of its inputs, `O` of its outputs.
 */

/** An HTTP request. */
export interface CustomHttpRequest {
  /** Path and query: `/v1/score?top=3`. */
  readonly path: string;
  /** Default: `"POST"`, or `"GET"` without a body. */
  readonly method?: HttpMethod;
  /**
   * Headers of this request, in addition to the target's. Default: none, or `Content-Type: application/json` for an object as the body.
   */
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
  /**
   * With `streaming`: the encoded messages in order, instead of `message`. They are sent at once, after which the sending side
   * is closed.
   */
  readonly messages?: readonly Uint8Array[];
  /** Metadata of this call, in addition to the target's. Default: none. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The response to one request. The memory of `bytes` and `parts` is reused after the call. */
export interface CustomResponse {
  /** The body or the message; for a stream, all messages or events, joined. */
  readonly bytes: Uint8Array;
  /** The messages or server-sent events, in order; a single one if the response is not a stream. */
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
/** Checks an output. Returns undefined or true if it is right, false or the reason if it is wrong. */
export type CheckOutput<I, O> = (output: O, input: I) => string | boolean | undefined;
/** Returns a value from an output: a number for statistics, or any other value to be counted; null or undefined for no value. */
export type ExtractValue<I, O> = (output: O, input: I) => unknown;
/** Returns the inputs. */
export type MakeInputs<I> = () => Iterable<I> | AsyncIterable<I>;
