import { ProtocolError } from "../../transport/failure.ts";
import type { Query } from "../service.ts";
import type { TritonApi } from "./api.ts";
import { modelPath } from "./http-codec.ts";

/** The questions over HTTP. */
export const httpApi: TritonApi = {
  metadata: (model) => httpQuery("GET", modelPath(model, "")),
  config: (model) => httpQuery("GET", modelPath(model, "/config")),
  server: () => httpQuery("GET", "/v2"),
  statistics: (model) => httpQuery("GET", model === undefined ? "/v2/models/stats" : modelPath(model, "/stats")),
  index: () => {
    const query = httpQuery("POST", "/v2/repository/index", '{"ready":true}');
    // Over HTTP the list comes bare.
    return { ...query, read: (body) => ({ models: query.read(body) }) };
  },
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A question over HTTP whose answer is JSON. */
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
      try {
        return JSON.parse(text) as unknown;
      } catch {
        throw new ProtocolError(`answer to ${method} ${path} is not JSON: ${JSON.stringify(text.slice(0, 60))}`);
      }
    },
    format: (bytes) => decoder.decode(bytes),
  };
}
