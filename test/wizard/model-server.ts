import { createServer } from "node:http";
import { listen } from "../servers/listen.ts";

/** A KServe v2 server that lists models and describes them, and nothing else. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
}

interface Model {
  readonly dims: readonly number[];
  readonly state: "READY" | "UNAVAILABLE";
  readonly more?: object;
}

/** By name: one of fixed shape, one that varies, a decoupled one, whose stream a scenario must ask for, one that is not ready. */
const MODELS: Readonly<Record<string, Model>> = {
  "a-decoupled": { dims: [1], state: "READY", more: { model_transaction_policy: { decoupled: true } } },
  fixed: { dims: [16], state: "READY" },
  loading: { dims: [1], state: "UNAVAILABLE" },
  variable: { dims: [3, -1], state: "READY" },
};

const TENSORS = [
  { key: "input", name: "IN" },
  { key: "output", name: "OUT" },
] as const;

/** Starts it on a free port. @param names which of the models it has */
export async function startModelServer(names: readonly string[] = Object.keys(MODELS)): Promise<ModelServer> {
  const server = createServer((request, response) => {
    request.resume();
    const body = answer(request.url ?? "", names);
    response.writeHead(body === undefined ? 404 : 200, { "Content-Type": "application/json" });
    response.end(JSON.stringify(body ?? { error: "not found" }));
  });
  return {
    url: `127.0.0.1:${await listen(server)}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections?.();
        server.close(() => resolve());
      }),
  };
}

function answer(path: string, names: readonly string[]): object | undefined {
  if (path === "/v2/repository/index") return names.map((name) => ({ name, version: "1", state: MODELS[name]?.state }));
  if (path === "/v2") return { name: "triton", version: "2.51.0", extensions: [] };
  const [, name = "", suffix] = /^\/v2\/models\/([^/]+)(\/config)?$/.exec(path) ?? [];
  const model = MODELS[name];
  if (model === undefined) return undefined;
  if (suffix === undefined) {
    const tensors = TENSORS.map((entry) => [
      `${entry.key}s`,
      [{ name: entry.name, datatype: "FP32", shape: [-1, ...model.dims] }],
    ]);
    return { name, versions: ["1"], platform: "test", ...Object.fromEntries(tensors) };
  }
  const tensors = TENSORS.map((entry) => [entry.key, [{ name: entry.name, data_type: "TYPE_FP32", dims: model.dims }]]);
  return { name, platform: "test", max_batch_size: 8, ...Object.fromEntries(tensors), ...model.more };
}
