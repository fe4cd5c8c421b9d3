import assert from "node:assert/strict";
import { test } from "node:test";
import { startMock } from "../../../src/mock/server.ts";
import { RunError } from "../../../src/plan/problem.ts";
import { probeModels } from "../../../src/run/open/probe.ts";
import { DEFAULT_TRITON_TARGET } from "../../../src/service/triton/target.ts";
import { findDeadPort } from "../../golden/dead-port.ts";
import { makeOpenAiTarget } from "../../plan/make-plan.ts";

const LIMIT = { timeout: 180_000 };
const QUICK = { latency: { kind: "constant", ms: 0 }, errorRatio: 0, responseBytes: 0 } as const;
const triton = (protocol: "http" | "grpc", port: number) =>
  ({ ...DEFAULT_TRITON_TARGET, kind: "triton", url: `127.0.0.1:${port}`, protocol, model: "" }) as const;

test("a server lists its models over each protocol", LIMIT, async () => {
  const mock = await startMock(QUICK, { host: "127.0.0.1", httpPort: 0, grpcPort: 0 });
  try {
    const http = await probeModels(triton("http", mock.httpPort));
    assert.ok(http.length > 0);
    assert.deepEqual(await probeModels(triton("grpc", mock.grpcPort)), http);
    const openai = await probeModels(makeOpenAiTarget(`127.0.0.1:${mock.httpPort}`, { model: "", isStreaming: false }));
    assert.ok(openai.length > 0);
  } finally {
    await mock.stop();
  }
});

test("a server that cannot be asked is an error with its address", LIMIT, async () => {
  const port = await findDeadPort();
  await assert.rejects(probeModels(triton("http", port)), (error: unknown) => {
    assert.ok(error instanceof RunError);
    assert.equal(error.code, "unreachable");
    assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port}`));
    return true;
  });
});
