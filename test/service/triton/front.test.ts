import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MissingCallError } from "../../../src/service/missing-call.ts";
import type { Ask } from "../../../src/service/service.ts";
import { listTritonModels } from "../../../src/service/triton/front.ts";
import { grpcApi } from "../../../src/service/triton/grpc-front-end.ts";
import { httpApi } from "../../../src/service/triton/http-api.ts";

/** Which models a server has, as far as it says. */

const METADATA = { platform: "x", inputs: [{ name: "IN", datatype: "FP32", shape: [4] }], outputs: [] };

/** A server with models `a` and `b` that answers some paths. */
function serverOf(responses: Readonly<Record<string, unknown>>): Ask {
  return async ({ request: { path, payload } }) => {
    const model = /^\/v2\/models\/([ab])$/.exec(path)?.[1];
    if (model !== undefined) return { name: model, ...METADATA };
    if (path.endsWith("/ModelMetadata")) return { name: new TextDecoder().decode(payload.subarray(2)), ...METADATA };
    const answer = responses[path];
    if (answer === undefined) throw new MissingCallError("refused", `no ${path}`, "");
    return answer;
  };
}

const INDEX = "/v2/repository/index";
const GRPC_INDEX = "/inference.GRPCInferenceService/RepositoryIndex";
const indexOf = (...states: string[]): object => ({
  models: states.map((state, index) => ({ name: "ab"[index] as string, version: "1", state })),
});

const CASES = [
  {
    name: "with an index: the ready ones",
    api: httpApi,
    responses: { [INDEX]: indexOf("READY", "UNAVAILABLE") },
    found: "a",
  },
  { name: "with an index without states: all", api: httpApi, responses: { [INDEX]: indexOf("", "") }, found: "a b" },
  {
    name: "with MLServer's states over gRPC",
    api: grpcApi,
    responses: { [GRPC_INDEX]: indexOf("State.READY", "State.LOADING") },
    found: "a",
  },
  {
    name: "without an index, with KServe's list",
    api: httpApi,
    responses: { "/v2/models": { models: ["b", "a"] } },
    found: "a b",
  },
  { name: "without any list: the named one, over HTTP", api: httpApi, responses: {}, named: "b", found: "b" },
  { name: "without any list: the named one, over gRPC", api: grpcApi, responses: {}, named: "b", found: "b" },
] as const;

describe("models of a server", () => {
  for (const { name, api, responses, found, ...more } of CASES)
    test(name, async () => {
      const models = await listTritonModels(api, serverOf(responses), "named" in more ? more.named : "");
      assert.equal(models.map((model) => model.name).join(" "), found);
      assert.equal(models[0]?.inputs[0]?.datatype, "FP32");
    });

  for (const api of [httpApi, grpcApi])
    test("without any list and without a name, the user is asked to name one", async () => {
      await assert.rejects(listTritonModels(api, serverOf({}), ""), {
        code: "unsupported",
        message: "the server does not list its models",
      });
    });
});
