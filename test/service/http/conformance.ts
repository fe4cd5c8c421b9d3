import type { TargetPlan } from "../../../src/plan/plan.ts";
import { HTTP_FAILURES, type HttpService, httpServers } from "../../conformance/http-service.ts";
import type { ConformanceRow } from "../../conformance/row.ts";

/** Any HTTP server: a REST API of its own, whose answers are read, and bytes, of which only the status counts. */

const NO_SEQUENCES = "HTTP requests belong to no sequences";
const PATH = "/v1/predict?version=2";

const rest: HttpService = {
  isLoad: ({ method, path }) => method === "PUT" && path === PATH,
  answer: ({ body }) => ({ body: JSON.stringify({ ok: true, bytes: body.length }) }),
};

const bytes: HttpService = {
  isLoad: ({ method, path }) => method === "GET" && path === PATH,
  answer: () => ({ type: "application/octet-stream", body: new Uint8Array(1000).fill(7) }),
};

type HttpTarget = Extract<TargetPlan, { kind: "plain-http" }>;

/** The row of a REST server, whose answers are read. */
export const restRow: ConformanceRow = {
  ...row("any REST server", rest, { method: "PUT", successWhere: "ok", extract: { bytes: "bytes" } }),
  inputs: { kind: "http-requests", requests: [{ body: { form: "text", text: "abc" } }] },
};

function row(name: string, service: HttpService, target: Pick<HttpTarget, "method" | "successWhere" | "extract">) {
  return {
    name,
    wire: "http",
    start: httpServers(service),
    target: ({ url, moreUrls, tls }): TargetPlan => ({
      kind: "plain-http",
      url,
      ...(moreUrls.length === 0 ? {} : { moreUrls: [...moreUrls] }),
      protocol: "http",
      isStreaming: false,
      batchSize: 1,
      path: PATH,
      headers: [],
      tls,
      ...target,
    }),
    failures: HTTP_FAILURES,
    cannot: { sequences: NO_SEQUENCES },
  } as const satisfies ConformanceRow;
}

export const rows: readonly ConformanceRow[] = [
  restRow,
  {
    ...row("any HTTP server", bytes, { method: "GET" }),
    inputs: { kind: "http-requests", requests: [{}] },
    cannot: {
      sequences: NO_SEQUENCES,
      "answers of another content type": "without rules, every answer with a successful status is one",
    },
  },
];
