import { problem } from "../../plan/problem.ts";
import type { ServiceApi } from "../probe.ts";
import { checkResponseRules } from "../response-reader.ts";
import { OF_SERVERS } from "../server-target.ts";
import type { ServiceKind } from "../service.ts";
import { openTritonFront } from "./front.ts";
import { type TritonTargetPlan, tritonTargetSchema, wireOf } from "./target.ts";

/** Recognizes KServe v2 servers by their metadata, which names the server's software, over HTTP and over gRPC. */
const kserveApi: ServiceApi = {
  name: "kserve",
  label: "KServe v2 (Triton)",
  probes: [
    {
      protocol: "http",
      path: "/v2",
      recognize: ({ text }) =>
        /"extensions"\s*:/.test(text)
          ? nameServer(/"name"\s*:\s*"([^"]*)"/.exec(text)?.[1], /"version"\s*:\s*"([^"]*)"/.exec(text)?.[1])
          : undefined,
    },
    {
      protocol: "grpc",
      path: "/inference.GRPCInferenceService/ServerMetadata",
      payload: new Uint8Array(0),
      recognize: ({ status, body }) => (status === 0 ? nameServer(...readNames(body)) : undefined),
    },
  ],
};

export const tritonKind: ServiceKind<TritonTargetPlan> = {
  schema: tritonTargetSchema,
  address: (target) => ({
    url: target.url,
    wire: wireOf(target),
    defaultPort: target.protocol === "http" ? 8000 : 8001,
    headers: target.headers,
    ...(target.compression === "none" ? {} : { compression: target.compression }),
  }),
  ...OF_SERVERS,
  takes: () => "tensors",
  exported: () => ({ serviceKind: "triton", endpoint: "" }),
  check: (target) => {
    const { sharedMemory, moreUrls = [] } = target;
    const problems = checkResponseRules(target);
    if (sharedMemory === "none" || moreUrls.length === 0) return problems;
    const message = "shared memory works with one server only";
    return [...problems, problem("unsupported", { setting: "target.url" }, message, "Give one address.")];
  },
  path: () => "v2",
  server: "a KServe v2 server",
  api: kserveApi,
  open: async (target) => openTritonFront(target),
};

function nameServer(name = "", version = ""): string {
  const shown = name === "triton" ? "Triton" : name;
  const full = [shown, version].filter((word) => /^[\w.+ -]{1,40}$/.test(word)).join(" ");
  return full === "" ? "a KServe v2 server" : `${full} (KServe v2)`;
}

const NAME_TAG = 0x0a;
const VERSION_TAG = 0x12;

/** Reads the first two fields of a ServerMetadataResponse, the name and the version, if they are short texts. */
function readNames(body: Uint8Array): readonly [name: string, version: string] {
  const name = readText(body, 0, NAME_TAG);
  return [name.text, readText(body, name.end, VERSION_TAG).text];
}

/** Returns a field of up to 127 bytes and the offset after it; an empty text if another field is at this place. */
function readText(body: Uint8Array, start: number, tag: number): { readonly text: string; readonly end: number } {
  const length = body[start + 1] ?? 0;
  if (body[start] !== tag || length > 0x7f) return { text: "", end: start };
  const end = start + 2 + length;
  return { text: new TextDecoder().decode(body.subarray(start + 2, end)), end };
}
