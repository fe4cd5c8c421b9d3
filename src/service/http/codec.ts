import { maskSecrets } from "../../plan/secrets.ts";
import { ANY_ANSWER } from "../../transport/answer-check.ts";
import type { Failure } from "../../transport/failure.ts";
import type { Header, WireRequest } from "../../transport/request.ts";
import type { PayloadCodec, PayloadRequest } from "../service.ts";
import type { HttpTargetPlan } from "./target.ts";

const MAX_EXPLANATION_CHARACTERS = 300;
const MAX_ANSWER_CHARACTERS = 4096;

const decoder = new TextDecoder();

/** Payloads from files are JSON, and say no type of their own. */
const FILE_REQUEST: PayloadRequest = { contentType: "application/json" };

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
      replacesHeaders: true,
      payload: bytes,
    }),
    stampSequence: () => {
      throw new Error("HTTP requests belong to no sequences");
    },
    // The target's own rules read answers elsewhere.
    answerChecks: () => () => ANY_ANSWER,
    decode: (body) => ({ outputs: body, describe: () => decoder.decode(body) }),
    explain,
    describe: ({ payload }) => decoder.decode(payload),
  };
}

/** Returns the target's headers with those of the request in their place, and the type of the body if no header gives it. */
function joinHeaders(headers: readonly Header[], { headers: own = [], contentType }: PayloadRequest): Header[] {
  const given = new Set(own.map(([name]) => name.toLowerCase()));
  const joined = [...headers.filter(([name]) => !given.has(name.toLowerCase())), ...own];
  const hasType = joined.some(([name]) => name.toLowerCase() === "content-type");
  return contentType === undefined || hasType ? joined : [...joined, ["Content-Type", contentType]];
}

/** Adds the beginning of the server's answer to an error status. */
function explain(failure: Failure, body: Uint8Array | undefined): Failure {
  if (failure.kind !== "http" || body === undefined) return failure;
  // Mask before truncating, because half of a key would not be found.
  const text = maskSecrets(decoder.decode(body).trim());
  if (text === "") return failure;
  const start = text.replace(/\s+/g, " ").slice(0, MAX_EXPLANATION_CHARACTERS);
  return { ...failure, message: `${failure.message}: ${start}`, answer: text.slice(0, MAX_ANSWER_CHARACTERS) };
}
