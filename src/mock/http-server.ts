import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { MockLlm } from "./llm.ts";
import { MockError, type MockModel, type MockOutput } from "./model.ts";
import { type MockHandlers, sendJson } from "./services/service.ts";

/** A connection without a request is closed after this time, in milliseconds. Node's default of 5 s closes connections of slow loads. */
const KEPT_MS = 75_000;
/** Maximum length of a request's body, which is buffered in memory. */
const MOST_BODY_BYTES = 256 * 1024 * 1024; // 256 MiB

/** Creates a server for KServe v2, OpenAI's API and services, which come first, on the runtime's HTTP, not the client's own. */
export function createHttpServer(model: MockModel, llm: MockLlm, services: readonly MockHandlers[]): Server {
  return createServer({ keepAliveTimeout: KEPT_MS }, (request, response) => {
    void answer(model, llm, services, request, response).catch((error: unknown) => {
      if (!response.headersSent) sendJson(response, 500, { error: String(error) });
    });
  });
}

async function answer(
  model: MockModel,
  llm: MockLlm,
  services: readonly MockHandlers[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? "/").replace(/\?.*$/, "").replace(/(.)\/$/, "$1");
  const body = await readBody(request);
  if (body === undefined) {
    sendJson(response, 413, { error: `the body has more than ${MOST_BODY_BYTES} bytes` });
    return;
  }
  const { method = "GET", headers } = request;
  for (const service of services)
    if ((await service.answerHttp?.({ method, path, headers, body }, response)) === true) return;
  const named = /^\/v2\/models\/([^/]+)(?:\/versions\/([^/]+))?(\/[a-z]+)?$/.exec(path);
  if (named !== null) {
    const name = decodeURIComponent(named[1] as string);
    const version = decodeURIComponent(named[2] ?? "");
    if (!model.isNamed(name, version)) {
      sendJson(response, 400, {
        error: `Request for unknown model: '${name}'${version === "" ? "" : ` version ${version}`} is not found`,
      });
      return;
    }
    await responseModel(model, named[3] ?? "", request, body, response);
    return;
  }
  if (llm.serves(path) && request.method === "POST") await llm.answer(path, body.toString("utf8"), response);
  else if (path === "/v1/models") sendJson(response, 200, { object: "list", data: [llm.listed] });
  else if (path === "/v2") sendJson(response, 200, model.serverMetadata);
  else if (path === "/v2/health/live" || path === "/v2/health/ready") response.writeHead(200).end();
  else if (path === "/v2/repository/index") sendJson(response, 200, (model.index as { models: object[] }).models);
  else sendJson(response, 404, { error: `unknown path ${path}` });
}

async function responseModel(
  model: MockModel,
  suffix: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  if (suffix === "") sendJson(response, 200, model.metadata);
  else if (suffix === "/config") sendJson(response, 200, model.config);
  else if (suffix === "/stats") sendJson(response, 200, model.statistics);
  else if (suffix === "/ready") response.writeHead(200).end();
  else if (suffix === "/infer") await infer(model, request, body, response);
  else sendJson(response, 404, { error: `unknown path ${suffix}` });
}

interface InferJson {
  readonly id?: string;
  readonly inputs?: { name: string; shape: number[]; data?: number[]; parameters?: { binary_data_size?: number } }[];
  readonly outputs?: { name: string; parameters?: { binary_data?: boolean } }[];
}

async function infer(
  model: MockModel,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  try {
    const headBytes = Number(request.headers["inference-header-content-length"] ?? body.length);
    const json = JSON.parse(body.toString("utf8", 0, headBytes)) as InferJson;
    const outputs = await model.infer(readInputs(json, body, headBytes));
    sendOutputs(response, json, outputs);
  } catch (error) {
    if (!(error instanceof MockError) && !(error instanceof SyntaxError)) throw error;
    sendJson(response, 400, { error: error.message });
  }
}

function readInputs(json: InferJson, body: Buffer, headBytes: number): Map<string, Uint8Array> {
  const inputs = new Map<string, Uint8Array>();
  let offset = headBytes;
  for (const input of json.inputs ?? []) {
    const size = input.parameters?.binary_data_size;
    if (size !== undefined) {
      inputs.set(input.name, new Uint8Array(body.subarray(offset, offset + size)));
      offset += size;
    } else {
      inputs.set(input.name, new Uint8Array(Int32Array.from((input.data ?? []).flat(4)).buffer));
    }
  }
  return inputs;
}

function sendOutputs(response: ServerResponse, json: InferJson, outputs: readonly MockOutput[]): void {
  const wanted: NonNullable<InferJson["outputs"]> = json.outputs ?? outputs.map(({ name }) => ({ name }));
  const binary: Uint8Array[] = [];
  const described = outputs
    .filter((output) => wanted.some(({ name }) => name === output.name))
    .map(({ name, datatype, shape, bytes }) => {
      const isBinary = wanted.find((entry) => entry.name === name)?.parameters?.binary_data ?? false;
      if (!isBinary)
        return { name, datatype, shape, data: datatype === "INT32" ? [...new Int32Array(bytes.buffer)] : [...bytes] };
      binary.push(bytes);
      return { name, datatype, shape, parameters: { binary_data_size: bytes.length } };
    });
  const head = Buffer.from(
    JSON.stringify({
      ...(json.id === undefined || json.id === "" ? {} : { id: json.id }),
      model_name: "simple",
      model_version: "1",
      outputs: described,
    }),
  );
  const body = Buffer.concat([head, ...binary]);
  response.writeHead(200, {
    "Content-Type": binary.length > 0 ? "application/octet-stream" : "application/json",
    "Content-Length": body.length,
    ...(binary.length > 0 ? { "Inference-Header-Content-Length": head.length } : {}),
  });
  response.end(body);
}

/** Reads all of a request's body; undefined when it is too long. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let byteCount = 0;
  for await (const piece of request) {
    byteCount += (piece as Buffer).length;
    if (byteCount <= MOST_BODY_BYTES) pieces.push(piece as Buffer);
    else pieces.length = 0;
  }
  return byteCount <= MOST_BODY_BYTES ? Buffer.concat(pieces) : undefined;
}
