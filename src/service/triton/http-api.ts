import { parseJson } from "../../plan/objects.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { decoder, encoder } from "../../runtime/text.ts";
import { ProtocolError } from "../../transport/failure.ts";
import type { SharedRegion } from "../../transport/shared-memory/shared-memory.ts";
import type { Query } from "../service.ts";
import type { TritonApi } from "./api.ts";
import { encodeSegment, modelPath } from "./http-codec.ts";

/** Triton's queries over HTTP. */
export const httpApi: TritonApi = {
  metadata: (model) => httpQuery("GET", modelPath(model, "")),
  config: (model) => httpQuery("GET", modelPath(model, "/config")),
  server: () => httpQuery("GET", "/v2"),
  statistics: (model) => httpQuery("GET", model === undefined ? "/v2/models/stats" : modelPath(model, "/stats")),
  index: () => {
    const query = httpQuery("POST", "/v2/repository/index", '{"ready":true}');
    // Over HTTP, the list has no wrapper.
    return { ...query, read: (body) => ({ models: query.read(body) }) };
  },
  names: () => httpQuery("GET", "/v2/models"),
  sharedMemory: {
    register: (region) => commandQuery(regionPath(region, "register"), JSON.stringify(describeRegion(region))),
    unregister: (region) => commandQuery(regionPath(region, "unregister"), ""),
  },
};

function regionPath({ kind, name }: SharedRegion, verb: string): string {
  return `/v2/${kind}sharedmemory/region/${encodeSegment(name)}/${verb}`;
}

function describeRegion(region: SharedRegion): object {
  if (region.kind === "system") return { key: region.key, offset: 0, byte_size: region.sizeBytes };
  const b64 = Buffer.from(region.rawHandle).toString("base64");
  return { raw_handle: { b64 }, device_id: region.deviceId, byte_size: region.sizeBytes };
}

/** Creates a command, whose response is empty. */
function commandQuery(path: string, body: string): Query {
  return { ...httpQuery("POST", path, body), read: () => undefined };
}

/** Creates a query over HTTP with a JSON response. */
export function httpQuery(method: "GET" | "POST", path: string, body = ""): Query {
  return {
    request: {
      path,
      method,
      headers: body === "" ? [] : [["Content-Type", "application/json"]],
      payload: encoder.encode(body),
    },
    read: (bytes) => {
      const text = decoder.decode(bytes);
      const json = parseJson(text);
      if (json !== undefined) return json;
      const start = JSON.stringify(maskSecrets(text).slice(0, 60));
      throw new ProtocolError(`response to ${method} ${path} is not JSON: ${start}`);
    },
    format: (bytes) => decoder.decode(bytes),
  };
}
