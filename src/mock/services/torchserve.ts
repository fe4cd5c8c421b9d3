import type { ServerResponse } from "node:http";
import type { MockPlan } from "../../plan/mock.ts";
import { EMBEDDED_MODEL } from "../../service/embedded/target.ts";
import { createPacing, type Pacing } from "../pacing.ts";
import { type MockHttpRequest, type MockService, sendJson } from "./service.ts";

const VERSION = "1.0";
/** Inputs above this size count as long. */
const SHORT_BYTES = 100;

/** TorchServe with the model `simple`, which responds with the length of the input, and the management API on the same port. */
export const torchServeMock: MockService = {
  help: "Also speak TorchServe's protocol: predictions/simple sends the number of bytes that it received, ping the health, and models the list of models.",
  create: (plan) => {
    const pacing = createPacing(plan);
    return {
      describe: (http) => `torchserve http ${http}/predictions/${EMBEDDED_MODEL}`,
      answerHttp: (request, response) => answer(plan, pacing, request, response),
    };
  },
};

async function answer(
  plan: MockPlan,
  pacing: Pacing,
  request: MockHttpRequest,
  response: ServerResponse,
): Promise<boolean> {
  const { method, path } = request;
  const named = /^\/predictions\/([^/]+)(?:\/([^/]+))?$/.exec(path);
  if (named !== null) {
    const refusal = refuse(decodeURIComponent(named[1] as string), decodeURIComponent(named[2] ?? VERSION));
    if (refusal !== undefined) sendJson(response, 404, refusal);
    else if (method === "OPTIONS")
      sendJson(response, 200, { openapi: "3.0.1", info: { title: `RESTful API for: ${EMBEDDED_MODEL}` } });
    else await predict(plan, pacing, request, response);
  } else if (path === "/ping") sendJson(response, 200, { status: "Healthy" });
  else if (path === "/models")
    sendJson(response, 200, { models: [{ modelName: EMBEDDED_MODEL, modelUrl: EMBEDDED_MODEL }] });
  else return false;
  return true;
}

/** Returns TorchServe's error for an unknown model; undefined for the mock's model. */
function refuse(model: string, version: string): object | undefined {
  if (model !== EMBEDDED_MODEL)
    return { code: 404, type: "ModelNotFoundException", message: `Model not found: ${model}` };
  if (version === VERSION) return undefined;
  const message = `Model version: ${version} does not exist for model: ${model}`;
  return { code: 404, type: "ModelVersionNotFoundException", message };
}

async function predict(
  { responseBytes }: MockPlan,
  pacing: Pacing,
  request: MockHttpRequest,
  response: ServerResponse,
): Promise<void> {
  await pacing.wait();
  if (pacing.fails())
    return sendJson(response, 503, { code: 503, type: "InternalServerException", message: "planned failure" });
  const { part, bytes } = readInput(request);
  const label = bytes > SHORT_BYTES ? "long" : "short";
  const padding = responseBytes === 0 ? {} : { padding: "a".repeat(responseBytes) };
  sendJson(response, 200, { label, bytes, part, ...padding });
}

/** Returns the name and size of the input: the first part of a form, or the body. */
function readInput({ headers, body }: MockHttpRequest): { part: string; bytes: number } {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)"?/i.exec(headers["content-type"] ?? "")?.[1];
  if (boundary === undefined) return { part: "body", bytes: body.length };
  const [, first = ""] = body.toString("latin1").split(`--${boundary}`);
  const headEnd = first.indexOf("\r\n\r\n");
  const part = /name="([^"]*)"/.exec(first.slice(0, headEnd))?.[1] ?? "";
  return { part, bytes: Math.max(0, first.length - headEnd - "\r\n\r\n".length - "\r\n".length) };
}
