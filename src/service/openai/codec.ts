import { writeJson } from "../../plan/show-value.ts";
import type { Failure } from "../../transport/failure.ts";
import type { WireRequest } from "../../transport/request.ts";
import { addExplanation, toMaskedText } from "../explain-error.ts";
import { explainPage } from "../html-page.ts";
import type { PayloadCodec } from "../service.ts";
import { createPayloadChecks } from "./answer-check.ts";
import { detectAnswerKind } from "./answer-kind.ts";

const decoder = new TextDecoder();

/**
 * Creates the codec that encodes payloads as requests to a path.
 * @param path without a leading slash
 * @param isStreaming whether to request events
 */
export function createPayloadCodec(path: string, isStreaming: boolean): PayloadCodec {
  const headers = [
    ["Content-Type", "application/json"],
    ...(isStreaming ? [["Accept", "text/event-stream"] as const] : []),
  ] as const;
  return {
    encode: ({ bytes }): WireRequest => ({
      path: `/${path}`,
      method: "POST",
      headers,
      payload: bytes,
    }),
    stampSequence: () => {
      throw new Error("payloads belong to no sequences");
    },
    answerChecks: () => createPayloadChecks(detectAnswerKind("openai", path, "", "")),
    decode: (body) => ({ outputs: body, describe: () => decoder.decode(body) }),
    explain: explainFailure,
    describe: ({ payload }) => decoder.decode(payload),
  };
}

/** Returns an event's data; any other text unchanged. */
function dataOf(text: string): string {
  const data = text.split(/\r\n|\n|\r/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []));
  return data.length === 0 ? text : data.join("\n").trim();
}

/** Returns the message of a document such as `{"error": {"message": …}}`; undefined without an error. */
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
  const isUnreadable = failure.kind === "unreadable";
  if ((failure.kind !== "http" && !isUnreadable) || body === undefined) return failure;
  const text = toMaskedText(body);
  const page = isUnreadable ? explainPage([text]) : undefined;
  if (page !== undefined) return { ...failure, message: page };
  const explanation = readError(isUnreadable ? dataOf(text) : text) ?? text.replace(/\s+/g, " ");
  return addExplanation(failure, text, explanation);
}
