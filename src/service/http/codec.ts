import { ANY_ANSWER } from "../../transport/answer-check.ts";
import type { Header, WireRequest } from "../../transport/request.ts";
import type { SampleAnswer } from "../../transport/sink/sample-answer.ts";
import { describeBytes, explainStatus } from "../explain-error.ts";
import type { PayloadCodec, PayloadRequest } from "../service.ts";
import type { HttpTargetPlan } from "./target.ts";

/** Payloads from files are JSON without a content type. */
const FILE_REQUEST: PayloadRequest = { contentType: "application/json" };

const SAMPLE: SampleAnswer = {
  headers: [["Content-Type", "application/json"]],
  parts: [new TextEncoder().encode("{}")],
};

/** Creates the codec that sends payloads as the bodies of a target's requests. */
export function createHttpCodec({
  method,
  path,
  headers,
}: Pick<HttpTargetPlan, "method" | "path" | "headers">): PayloadCodec {
  return {
    encode: ({ bytes, request = FILE_REQUEST }): WireRequest => ({
      path: request.path ?? path,
      method: request.method ?? method,
      headers: joinHeaders(headers, request),
      payload: bytes,
    }),
    // The target's own rules read answers elsewhere.
    answerChecks: () => () => ANY_ANSWER,
    decode: (body) => ({ outputs: body, describe: () => describeBytes(body) }),
    explain: explainStatus,
    describe: ({ payload }) => describeBytes(payload),
    sampleAnswer: () => SAMPLE,
  };
}

/** Returns the target's headers with those of the request in their place, and the type of the body if no header gives it. */
function joinHeaders(headers: readonly Header[], { headers: own = [], contentType }: PayloadRequest): Header[] {
  const given = new Set(own.map(([name]) => name.toLowerCase()));
  const joined = [...headers.filter(([name]) => !given.has(name.toLowerCase())), ...own];
  const hasType = joined.some(([name]) => name.toLowerCase() === "content-type");
  return contentType === undefined || hasType ? joined : [...joined, ["Content-Type", contentType]];
}
