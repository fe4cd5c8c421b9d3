import { parseJson } from "../../plan/objects.ts";
import { decoder } from "../../runtime/text.ts";
import type { Failure } from "../../transport/failure.ts";
import type { WireRequest } from "../../transport/request.ts";
import { type CreateResponseCheck, faultOf, type ResponseFault } from "../../transport/response-check.ts";
import type { SampleResponse } from "../../transport/sink/sample-response.ts";
import { CollectedCheck } from "../collected-pieces.ts";
import type { PayloadCodec } from "../content.ts";
import { addExplanation, toMaskedText } from "../explain-error.ts";
import { encodeForm } from "../multipart.ts";
import { explainPage, isPage, PAGE_FOUND } from "../response-faults.ts";
import type { TorchServeTargetPlan } from "./target.ts";

const SAMPLE: SampleResponse = {
  headers: [["Content-Type", "application/json"]],
  parts: [new TextEncoder().encode('{"label":0.5}')],
};

/** Returns the path of a model's predictions: `/predictions/MODEL`, with the version if there is one. */
export function predictionPath({ model, modelVersion }: Pick<TorchServeTargetPlan, "model" | "modelVersion">): string {
  const version = modelVersion === "" ? "" : `/${encodeURIComponent(modelVersion)}`;
  return `/predictions/${encodeURIComponent(model)}${version}`;
}

/** Creates the codec that encodes an input as a request to the path of the target's model. */
export function createTorchServeCodec(
  target: Pick<TorchServeTargetPlan, "model" | "modelVersion" | "body">,
): PayloadCodec {
  const path = predictionPath(target);
  const { body } = target;
  return {
    encode: ({ bytes }): WireRequest => {
      const { bytes: payload, contentType } =
        body.kind === "multipart" ? encodeForm([{ name: body.part, bytes }]) : { bytes, contentType: body.contentType };
      return { path, method: "POST", headers: [["Content-Type", contentType]], payload };
    },
    responseChecks: createTorchServeChecks,
    decode: (response) => ({ outputs: response, describe: () => decoder.decode(response) }),
    explain: explainFailure,
    sampleResponse: () => SAMPLE,
    describe: ({ headers, payload }) => `POST ${path}: ${payload.length} bytes, ${headers[0]?.[1] ?? ""}`,
  };
}

function explainFailure(failure: Failure, body: Uint8Array | undefined): Failure {
  if ((failure.kind !== "http" && failure.kind !== "unreadable") || body === undefined) return failure;
  const text = toMaskedText(body);
  const explanation = explainPage([text]) ?? readError(text) ?? text;
  return addExplanation(failure, text, explanation);
}

/** Longer responses are not errors of the server. A page can be recognized within these bytes. */
const HEAD_BYTES = 4096;
const FIRST_OF_PAGE = 0x3c; // <
const FIRST_OF_ERROR = 0x7b; // {
const ERROR_START = /^\{\s*"code"\s*:\s*[45]\d\d\s*,/;

/**
 * Creates the checks of responses with a successful status. A handler may return any bytes, so only a response that is certainly wrong is a
 * fault: a web page, or TorchServe's description of an error.
 */
export function createTorchServeChecks(): CreateResponseCheck {
  return () => new TorchServeResponseCheck(HEAD_BYTES);
}

class TorchServeResponseCheck extends CollectedCheck {
  whole(bytes: Uint8Array, start: number, end: number): ResponseFault | undefined {
    let first = start;
    while (first < end && isSpace(bytes[first] as number)) first++;
    const byte = bytes[first];
    if (first === end || (byte !== FIRST_OF_PAGE && byte !== FIRST_OF_ERROR && byte !== 0xef)) return undefined;
    const text = decoder.decode(bytes.subarray(first, Math.min(end, first + HEAD_BYTES)));
    if (isPage(text)) return faultOf(PAGE_FOUND, bytes, start, end);
    if (!ERROR_START.test(text) || readError(text) === undefined) return undefined;
    return faultOf("the response reports an error", bytes, start, end);
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

/** Returns TorchServe's explanation in `{"code": 503, "type": "…", "message": "…"}`: `message (type)`. Undefined for any other text. */
function readError(text: string): string | undefined {
  const { code, type, message } = (parseJson(text) ?? {}) as { code?: unknown; type?: unknown; message?: unknown };
  if (typeof code !== "number" || code < 400 || typeof message !== "string") return undefined;
  return typeof type === "string" ? `${message} (${type})` : message;
}
