import type { Failure } from "../../transport/failure.ts";
import type { WireRequest } from "../../transport/request.ts";
import type { SampleAnswer } from "../../transport/sink/sample-answer.ts";
import { addExplanation, toMaskedText } from "../explain-error.ts";
import { explainPage } from "../html-page.ts";
import { encodeForm } from "../multipart.ts";
import type { PayloadCodec } from "../service.ts";
import { createTorchServeChecks } from "./answer-check.ts";
import { readError } from "./error.ts";
import type { TorchServeTargetPlan } from "./target.ts";

const decoder = new TextDecoder();
const SAMPLE: SampleAnswer = {
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
    answerChecks: createTorchServeChecks,
    decode: (answer) => ({ outputs: answer, describe: () => decoder.decode(answer) }),
    explain: explainFailure,
    sampleAnswer: () => SAMPLE,
    describe: ({ headers, payload }) => `POST ${path}: ${payload.length} bytes, ${headers[0]?.[1] ?? ""}`,
  };
}

function explainFailure(failure: Failure, body: Uint8Array | undefined): Failure {
  if ((failure.kind !== "http" && failure.kind !== "unreadable") || body === undefined) return failure;
  const text = toMaskedText(body);
  const explanation = explainPage([text]) ?? readError(text) ?? text;
  return addExplanation(failure, text, explanation);
}
