import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import type { RunWarning } from "../../../src/result/observer.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { encodeMessage } from "../../../src/service/protobuf/message.ts";
import { INFER_RESPONSE, MODEL_CONFIG_RESPONSE, MODEL_METADATA } from "../../../src/service/triton/messages.ts";
import type { TritonTargetPlan } from "../../../src/service/triton/target.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { type GrpcAnswer, startGrpcAnsweringServer } from "../../servers/grpc-answering-server.ts";
import { LIMIT } from "../../time-limit.ts";

/** Runs against servers of KServe's protocol that lack what Triton adds to it: they are measured without, and the user is told. */

const REQUESTS = { mode: { kind: "requests", count: 6 } } as const;
const METADATA = {
  name: "m",
  versions: [],
  platform: "",
  inputs: [{ name: "IN", datatype: "FP32", shape: [4] }],
  outputs: [{ name: "OUT", datatype: "FP32", shape: [4] }],
};

interface Ran {
  readonly result: RunResult;
  /** What the user was told besides the results. */
  readonly told: readonly string[];
}

async function run(plan: Plan): Promise<Ran> {
  const late: RunWarning[] = [];
  const result = await startPlan(plan, {
    openObserver: async () => ({ onWarning: (warning) => late.push(warning) }),
    check: async () => {},
  }).result;
  return {
    result,
    told: [...(result.prepared?.warnings ?? []).map((text) => word(text)), ...late.map(({ kind }) => kind)],
  };
}

interface Json {
  readonly parameters?: { readonly binary_data_size?: number; readonly binary_data?: boolean };
  readonly data?: readonly number[];
}

/** Without a configuration and statistics; answers with JSON, and with 422 what it cannot read. @param v2 response to GET /v2 */
async function runHttp(
  v2: object | undefined,
  format: "binary" | "json" = "binary",
  binaryTensors?: TritonTargetPlan["binaryTensors"],
) {
  const seen: { readonly inputs: readonly Json[]; readonly outputs: readonly Json[] }[] = [];
  using server = await startAnsweringServer((response, index) => {
    const { path, text } = server.received[index] as { path: string; text: string };
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    };
    if (path === "/v2" && v2 !== undefined) answer(200, v2);
    else if (path === "/v2/models/m") answer(200, METADATA);
    else if (path !== "/v2/models/m/infer") answer(404, { detail: "Not Found" });
    else {
      try {
        seen.push(JSON.parse(text) as (typeof seen)[number]);
      } catch {
        return answer(422, { error: "the body is no JSON" });
      }
      answer(200, { model_name: "m", outputs: [{ name: "OUT", datatype: "FP32", shape: [4], data: [1, 2, 3, 4] }] });
    }
  });
  const chosen = binaryTensors === undefined ? {} : { binaryTensors };
  const target = { url: server.url, model: "m", inputTensorFormat: format, ...chosen } as const;
  return { ...(await run(makePlan({ target, measurement: REQUESTS }))), seen };
}

describe("a server without a configuration and statistics, over HTTP", () => {
  test("that lists no binary tensors is sent JSON, and asked for JSON", LIMIT, async () => {
    const { result, told, seen } = await runHttp({ name: "x", version: "1", extensions: [] });
    assert.deepEqual([result.completedCount, result.failedCount, result.error], [6, 0, undefined]);
    assert.equal(seen.length, 6);
    for (const { inputs, outputs } of seen) {
      assert.equal(inputs[0]?.data?.length, 4);
      assert.equal(outputs[0]?.parameters?.binary_data, false);
    }
    assert.equal(told.length, 3);
    assert.match(
      told.join(" "),
      /does not report the model's configuration.*no statistics.*sent and requested as JSON/,
    );
    assert.equal(result.server, undefined);
  });

  test("that lists no binary tensors is sent them when the user chose so", LIMIT, async () => {
    const both = await runHttp({ name: "x", version: "1", extensions: [] }, "binary", ["input", "output"]);
    assert.deepEqual([both.result.failedCount, both.result.failures[0]?.example], [6, "the body is no JSON"]);
    assert.equal(both.told.length, 2);
    const output = await runHttp({ name: "x", version: "1", extensions: [] }, "binary", ["output"]);
    assert.equal(output.result.completedCount, 6);
    assert.equal(output.seen[0]?.outputs[0]?.parameters?.binary_data, true);
    assert.match(output.told.join(" "), /binary_tensor_data: tensors are sent as JSON\./);
  });

  test("without a list of extensions is sent what the plan requests", LIMIT, async () => {
    const binary = await runHttp(undefined);
    assert.equal(binary.result.failedCount, 6);
    assert.deepEqual(
      binary.result.failures.map(({ kind, status, example }) => [kind, status, example]),
      [["http", 422, "the body is no JSON"]],
    );
    const json = await runHttp(undefined, "json");
    assert.deepEqual([json.result.completedCount, json.told.length], [6, 2]);
  });
});

const CONFIG = {
  name: "m",
  input: [{ name: "IN", data_type: "TYPE_FP32", dims: [4] }],
  output: [{ name: "OUT", data_type: "TYPE_FP32", dims: [4] }],
};
const TYPED = { name: "OUT", datatype: "FP32", shape: [4], contents: { fp32_contents: [1, 2, 3, 4] } };

async function runGrpc(more: Readonly<Record<string, GrpcAnswer>>): Promise<Ran> {
  using server = await startGrpcAnsweringServer({
    ModelMetadata: () => [encodeMessage(MODEL_METADATA, METADATA)],
    ModelInfer: () => [encodeMessage(INFER_RESPONSE, { model_name: "m", outputs: [TYPED] })],
    ...more,
  });
  return await run(makePlan({ target: { url: server.url, model: "m", protocol: "grpc" }, measurement: REQUESTS }));
}

describe("a server without optional calls, over gRPC", () => {
  test("has neither configuration nor server metadata", LIMIT, async () => {
    const { result, told } = await runGrpc({});
    assert.deepEqual([result.completedCount, result.failedCount, result.error], [6, 0, undefined]);
    assert.match(told.join(" "), /does not report the model's configuration.*no statistics/);
    assert.equal(told.length, 2);
  });

  test("has a configuration, but no server metadata", LIMIT, async () => {
    const { result, told } = await runGrpc({
      ModelConfig: () => [encodeMessage(MODEL_CONFIG_RESPONSE, { config: CONFIG })],
    });
    assert.deepEqual([result.completedCount, result.failedCount, result.error], [6, 0, undefined]);
    assert.deepEqual(told, ["no-statistics"]);
  });

  test("that refuses its configuration for another reason is not measured", LIMIT, async () => {
    const NOT_FOUND = 5;
    await assert.rejects(runGrpc({ ModelConfig: () => NOT_FOUND }), /failed to get model config/);
  });
});
