import { type UserError, userError } from "../../plan/problem.ts";
import { encoder } from "../../runtime/text.ts";
import {
  HEADER_NAME,
  HEADER_VALUE,
  type Header,
  HTTP_METHODS,
  METHOD_NAME,
  REQUEST_PATH,
  REQUEST_PATH_RULE,
  type WireRequest,
} from "../../transport/request.ts";
import type { CustomGrpcRequest, CustomHttpRequest, EncodeInput } from "./functions.ts";
import { describeUserError, readReturned } from "./user-error.ts";

/** Source of a payload: the scenario's input, and the request that its function returned. */
export interface CustomOrigin {
  readonly input: unknown;
  readonly request: WireRequest;
}

/**
 * Encodes the request of an input.
 * @param index of the input, from 0
 * @throws UserError if the scenario's function throws or does not return a request
 */
export async function encodeInput(
  protocol: "http" | "grpc" | "grpc-call",
  encode: EncodeInput<unknown>,
  input: unknown,
  index: number,
): Promise<CustomOrigin> {
  let made: unknown;
  try {
    made = await encode(input, index);
  } catch (error) {
    const hint = "Correct it in the scenario. It is called once for each input, before the first request.";
    throw userError("invalid-value", placeOf(index), `throws: ${describeUserError(error)}`, hint);
  }
  if (typeof made !== "object" || made === null) throw wrong(index, "returns no request", made);
  const request = readReturned(placeOf(index), made, () =>
    protocol === "http"
      ? toHttp(made as Partial<CustomHttpRequest>, index)
      : toGrpc(made as Partial<CustomGrpcRequest>, index, protocol === "grpc-call"),
  );
  return { input, request };
}

function toHttp({ path, method, headers = {}, body }: Partial<CustomHttpRequest>, index: number): WireRequest {
  if (typeof path !== "string") throw wrong(index, "returns no path", path);
  if (!REQUEST_PATH.test(path)) throw wrong(index, `returns a path that is wrong: it ${REQUEST_PATH_RULE}`, path);
  if (method !== undefined && !HTTP_METHODS.includes(method))
    throw wrong(index, `returns a method that is none of ${HTTP_METHODS.join(", ")}`, method);
  const isJson = typeof body === "object" && !(body instanceof Uint8Array);
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const type: Header[] = isJson && !names.includes("content-type") ? [["Content-Type", "application/json"]] : [];
  return {
    path,
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: [...type, ...toHeaders(headers, index)],
    payload: toBytes(body, index),
  };
}

function toGrpc(
  { method, message, messages, metadata = {} }: Partial<CustomGrpcRequest>,
  index: number,
  isStreaming: boolean,
): WireRequest {
  const name = typeof method === "string" ? method.replace(/^\//, "") : "";
  if (!METHOD_NAME.test(name)) throw wrong(index, "returns no method such as package.Service/Method", method);
  if (messages !== undefined && !isStreaming)
    throw wrong(index, "returns messages, which need streaming: true in the target", messages);
  const all: unknown = messages ?? [message];
  if (!Array.isArray(all) || !all.every((one) => one instanceof Uint8Array))
    throw wrong(index, "must return Uint8Array messages", messages ?? message);
  const headers = toHeaders(metadata, index).map(([name, value]): Header => [name.toLowerCase(), value]);
  const request = { path: `/${name}`, method: "POST", headers } as const;
  const copies = (all as readonly Uint8Array[]).map((one) => one.slice());
  if (!isStreaming) return { ...request, payload: copies[0] as Uint8Array };
  return { ...request, payload: new Uint8Array(0), messages: copies, callType: "bidi-stream" };
}

function toHeaders(given: Readonly<Record<string, unknown>>, index: number): Header[] {
  return Object.entries(given).map(([name, value]): Header => {
    const isGood = HEADER_NAME.test(name) && typeof value === "string" && HEADER_VALUE.test(value);
    if (!isGood) throw wrong(index, `returns a header that is not valid: ${JSON.stringify(name)}`, value);
    return [name, value];
  });
}

/** Returns a copy of the bytes, because the scenario may reuse its memory. */
function toBytes(body: unknown, index: number): Uint8Array {
  if (body === undefined) return new Uint8Array(0);
  if (body instanceof Uint8Array) return body.slice();
  if (typeof body === "string") return encoder.encode(body);
  const text = typeof body === "object" && body !== null ? JSON.stringify(body) : undefined;
  if (text === undefined) throw wrong(index, "returns a body that is neither bytes, text nor an object", body);
  return encoder.encode(text);
}

function wrong(index: number, message: string, value: unknown): UserError {
  const hint = "Return { path, body } for HTTP or { method, message } for gRPC.";
  return userError("invalid-value", placeOf(index), message, hint, showValue(value));
}

function showValue(value: unknown): string {
  return typeof value === "string" ? value : value === null ? "null" : typeof value;
}

function placeOf(index: number): string {
  return `target.encode, input ${index}`;
}
