import { defined, parseJson } from "../../plan/objects.ts";
import type { Header, WireRequest } from "../../transport/request.ts";
import { ANY_RESPONSE } from "../../transport/response-check.ts";
import type { SampleResponse } from "../../transport/sink/sample-response.ts";
import type { PayloadCodec, PayloadRequest } from "../content.ts";
import { describeBytes, explainStatus } from "../explain-error.ts";
import { EMPTY_RESPONSE, NOT_JSON } from "../response-faults.ts";
import { createResponseReader } from "../response-reader.ts";
import { modelNamed, SEPARATE_REQUESTS, type Service, type ServiceFront } from "../service.ts";
import { createChains } from "./chain.ts";
import { cookieServerOf } from "./cookie-jar.ts";
import type { HttpTargetPlan } from "./target.ts";

/** Creates a target's service, which sends no queries because the requests define what the server accepts. */
export function createHttpFront(target: HttpTargetPlan): ServiceFront {
  return { setUp: async () => describeService(target), listModels: async () => [] };
}

function describeService(target: HttpTargetPlan): Service {
  const responseReader = createResponseReader(target, readJson);
  return {
    model: modelNamed(target.path),
    codec: createHttpCodec(target),
    wire: "http",
    ...SEPARATE_REQUESTS,
    warnings: [],
    conversations: async () =>
      createChains({
        server: cookieServerOf(target.url),
        path: target.path,
        hasCookies: target.headers.some(([name]) => name.toLowerCase() === "cookie"),
      }),
    ...defined({ responseReader }),
  };
}

const SHOWN_CHARACTERS = 60;

/** Decodes a response that must be JSON. @throws Error with the reason if it is not */
function readJson(bodies: readonly Uint8Array[]): unknown {
  const [body = new Uint8Array(0)] = bodies;
  if (bodies.length > 1)
    throw new Error("the response is a stream of events, and success and extract can't read event streams");
  const text = new TextDecoder().decode(body);
  if (text.trim() === "") throw new Error(`${EMPTY_RESPONSE}, so success and extract have nothing to read`);
  const json = parseJson(text);
  if (json !== undefined) return json;
  const start = JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
  throw new Error(`${NOT_JSON}, which success and extract read: it begins with ${start}`);
}

/** Payloads from files are JSON without a content type. */
const FILE_REQUEST: PayloadRequest = { contentType: "application/json" };

const SAMPLE: SampleResponse = {
  headers: [["Content-Type", "application/json"]],
  parts: [new TextEncoder().encode("{}")],
};

/** Creates the codec that sends payloads as the bodies of a target's requests. */
function createHttpCodec({ method, path, headers }: Pick<HttpTargetPlan, "method" | "path" | "headers">): PayloadCodec {
  return {
    encode: ({ bytes, request = FILE_REQUEST }): WireRequest => ({
      path: request.path ?? path,
      method: request.method ?? method,
      headers: joinHeaders(headers, request),
      payload: bytes,
    }),
    // The target's rules check responses elsewhere.
    responseChecks: () => () => ANY_RESPONSE,
    decode: (body) => ({ outputs: body, describe: () => describeBytes(body) }),
    explain: explainStatus,
    describe: ({ payload }) => describeBytes(payload),
    sampleResponse: () => SAMPLE,
  };
}

/**
 * Returns the target's headers, replaced by those of the request with the same name, and the type of the body if no header
 * sets it.
 */
function joinHeaders(
  headers: readonly Header[],
  { headers: requestHeaders = [], contentType }: PayloadRequest,
): Header[] {
  const given = new Set(requestHeaders.map(([name]) => name.toLowerCase()));
  const joined = [...headers.filter(([name]) => !given.has(name.toLowerCase())), ...requestHeaders];
  const hasType = joined.some(([name]) => name.toLowerCase() === "content-type");
  return contentType === undefined || hasType ? joined : [...joined, ["Content-Type", contentType]];
}
