import { maskSecrets } from "../../plan/secrets.ts";
import { writeJson } from "../../plan/show-value.ts";
import { type Failure, ProtocolError } from "../../transport/failure.ts";
import type { WireRequest } from "../../transport/request.ts";
import { TEXT_LENGTH_BYTES } from "../payload-tensor.ts";
import type { InferCodec, InferResponse } from "../service.ts";
import type { Tensor } from "../tensor.ts";

/** Name of the tensor that perf_analyzer makes of what comes back: one text. */
export const RESPONSE = "response";

const MAX_EXPLANATION_CHARACTERS = 300;
const MAX_ANSWER_CHARACTERS = 4096;

const decoder = new TextDecoder();

/**
 * Encodes payloads as requests to a path.
 * @param path without a leading slash
 * @param isStreaming whether the server is asked for events
 */
export function createPayloadCodec(path: string, isStreaming: boolean): InferCodec {
  const headers = [
    ["Content-Type", "application/json"],
    ...(isStreaming ? [["Accept", "text/event-stream"] as const] : []),
  ] as const;
  return {
    encode: ([payload]): WireRequest => ({
      path: `/${path}`,
      method: "POST",
      headers,
      payload: (payload as Tensor).bytes.subarray(TEXT_LENGTH_BYTES),
    }),
    stampSequence: () => {
      throw new Error("payloads belong to no sequences");
    },
    decode: (body) => decodeResponse(body),
    explain: explainFailure,
    describe: ({ payload }) => decoder.decode(payload),
  };
}

function decodeResponse(body: Uint8Array): InferResponse {
  if (mayTellAnError(body)) refuseError(decoder.decode(body));
  const { length } = body;
  const bytes = new Uint8Array(TEXT_LENGTH_BYTES + length);
  // Byte by byte: a view of the buffer would cost more than all the rest, as the engine makes a buffer only when one is asked for.
  bytes[0] = length & 0xff;
  bytes[1] = (length >>> 8) & 0xff;
  bytes[2] = (length >>> 16) & 0xff;
  bytes[3] = length >>> 24;
  bytes.set(body, TEXT_LENGTH_BYTES);
  const outputs = new Map<string, Tensor>([[RESPONSE, { name: RESPONSE, datatype: "BYTES", shape: [1], bytes }]]);
  return { id: "", outputs, describe: () => decoder.decode(body) };
}

/** Whether an event or a JSON document may be an error although the request succeeded: nearly all begin otherwise, and are not read. */
function mayTellAnError(body: Uint8Array): boolean {
  return startsWith(body, 'data: {"error"') || startsWith(body, "event: error") || startsWith(body, '{"error"');
}

function startsWith(body: Uint8Array, text: string): boolean {
  if (body.length < text.length) return false;
  for (let i = 0; i < text.length; i++) if (body[i] !== text.charCodeAt(i)) return false;
  return true;
}

/** Throws `ProtocolError` with what the server says; an error that is null is none. */
function refuseError(text: string): void {
  const data = text
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []))
    .join("\n");
  const said = readError(data === "" ? text : data);
  if (said === undefined && !text.startsWith("event: error")) return;
  throw new ProtocolError(`the server sent an error within its answer: ${said ?? text.trim()}`);
}

/** The message in a document such as `{"error": {"message": …}}`; undefined when it tells of no error. */
function readError(text: string): string | undefined {
  let error: unknown;
  try {
    error = (JSON.parse(text) as { error?: unknown } | null)?.error;
  } catch {
    return undefined;
  }
  if (error === undefined || error === null) return undefined;
  if (typeof error === "string") return error;
  const message = (error as { message?: unknown }).message;
  return typeof message === "string" ? message : writeJson(error);
}

function explainFailure(failure: Failure, body: Uint8Array | undefined): Failure {
  if (failure.kind !== "http" || body === undefined) return failure;
  // Before it is cut to length: half a key is not found.
  const text = maskSecrets(decoder.decode(body).trim());
  const said = readError(text) ?? text;
  if (said === "") return failure;
  const message = `${failure.message}: ${said.slice(0, MAX_EXPLANATION_CHARACTERS)}`;
  return { ...failure, message, answer: text.slice(0, MAX_ANSWER_CHARACTERS) };
}
