import { fileURLToPath } from "node:url";
import type { TorchServeTargetPlan } from "../../../src/service/torchserve/target.ts";
import { HTTP_FAILURES, type HttpRequest, type HttpService, httpServers } from "../../conformance/http-service.ts";
import type { ConformanceRow } from "../../conformance/row.ts";

/** TorchServe: a file as a part of a form, and as the whole body. */

const NO_SEQUENCES = "a request to TorchServe is a prediction of its own";
const FILE = fileURLToPath(new URL("../../run/payloads.fixture.json", import.meta.url));

/** Answers only a request that carries the file in the row's form. */
const service = (isForm: boolean): HttpService => ({
  isLoad: ({ method, path }) => method === "POST" && path === "/predictions/m",
  answer: (request) => {
    if (request.path === "/ping") return { body: JSON.stringify({ status: "Healthy" }) };
    if (request.method === "OPTIONS") return { body: "{}" };
    if (readsForm(request) !== isForm) return { status: 400, body: "{}" };
    return { body: JSON.stringify({ label: "cat" }) };
  },
  error: () => ({
    status: 503,
    body: JSON.stringify({ code: 503, type: "InternalServerException", message: "made to fail" }),
  }),
});

function readsForm({ headers, body }: HttpRequest): boolean {
  const boundary = /^multipart\/form-data; boundary=(.+)$/.exec(headers["content-type"] ?? "")?.[1];
  return boundary !== undefined && body.toString("latin1").startsWith(`--${boundary}\r\n`);
}

const row = (body: TorchServeTargetPlan["body"]): ConformanceRow => ({
  name: `torchserve, ${body.kind}`,
  wire: "http",
  start: httpServers(service(body.kind === "multipart")),
  target: ({ url, moreUrls, tls }) => ({
    kind: "torchserve",
    url,
    ...(moreUrls.length === 0 ? {} : { moreUrls: [...moreUrls] }),
    protocol: "http",
    model: "m",
    modelVersion: "",
    body,
    batchSize: 1,
    isStreaming: false,
    headers: [],
    tls,
  }),
  inputs: { kind: "files", paths: [FILE] },
  failures: { ...HTTP_FAILURES, error: { kind: "http", status: 503 } },
  cannot: { sequences: NO_SEQUENCES },
});

export const rows: readonly ConformanceRow[] = [
  row({ kind: "multipart", part: "data" }),
  row({ kind: "raw", contentType: "application/octet-stream" }),
];
