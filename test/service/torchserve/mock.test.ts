// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { LOOPBACK, type MockServer, startMock } from "../../../src/mock/server.ts";
import { torchServeMock } from "../../../src/mock/services/torchserve.ts";
import { DEFAULT_MOCK, type MockPlan } from "../../../src/plan/mock.ts";

/** `rampart mock --torchserve`, asked by the runtime's own client. */

async function start(change: Partial<MockPlan> = {}): Promise<MockServer> {
  const plan = { ...DEFAULT_MOCK, ...change };
  const services = [await torchServeMock.create(plan, "")];
  return startMock(plan, LOOPBACK, services);
}

let mock: MockServer;
before(async () => {
  mock = await start();
});
after(() => mock.stop());

async function ask(path: string, init: RequestInit = {}, { httpPort }: MockServer = mock) {
  const response = await fetch(`http://127.0.0.1:${httpPort}${path}`, init);
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

describe("the mock's TorchServe", () => {
  test("answers how long the input is: a part of a form, or the whole body", async () => {
    const form = new FormData();
    form.append("image", new Blob([new Uint8Array([0, 255, 13, 10, 13, 10, 1])]));
    assert.deepEqual(await ask("/predictions/simple", { method: "POST", body: form }), {
      status: 200,
      json: { label: "short", bytes: 7, part: "image" },
    });
    const body = "x".repeat(101);
    assert.deepEqual((await ask("/predictions/simple/1.0", { method: "POST", body })).json, {
      label: "long",
      bytes: 101,
      part: "body",
    });
  });

  test("has a health check, a list of models, and a description of its model", async () => {
    assert.deepEqual((await ask("/ping")).json, { status: "Healthy" });
    assert.deepEqual((await ask("/models")).json, { models: [{ modelName: "simple", modelUrl: "simple" }] });
    assert.equal((await ask("/predictions/simple", { method: "OPTIONS" })).status, 200);
  });

  test("refuses other models and versions as TorchServe does", async () => {
    for (const [path, type, message] of [
      ["/predictions/cats", "ModelNotFoundException", "Model not found: cats"],
      ["/predictions/simple/9", "ModelVersionNotFoundException", "Model version: 9 does not exist for model: simple"],
    ] as const)
      assert.deepEqual(await ask(path, { method: "OPTIONS" }), { status: 404, json: { code: 404, type, message } });
  });

  test("has the latency, the faults and the size of responses that are asked for", async () => {
    const slow = await start({ latency: { kind: "constant", ms: 30 }, errorRatio: 1 });
    const startMs = performance.now();
    const { status, json } = await ask("/predictions/simple", { method: "POST", body: "x" }, slow);
    await slow.stop();
    assert.ok(performance.now() - startMs >= 29);
    assert.deepEqual([status, json["type"]], [503, "InternalServerException"]);
    const large = await start({ responseBytes: 5000 });
    const { json: padded } = await ask("/predictions/simple", { method: "POST", body: "x" }, large);
    await large.stop();
    assert.equal(String(padded["padding"]).length, 5000);
  });
});
