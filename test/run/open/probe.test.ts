import assert from "node:assert/strict";
import { test } from "node:test";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../../src/plan/mock.ts";
import { RunError } from "../../../src/plan/problem.ts";
import { probeModels } from "../../../src/run/open/probe.ts";
import { findDeadPort } from "../../golden/dead-port.ts";
import { makeOpenAiTarget, makeTarget } from "../../plan/make-plan.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";

const triton = (protocol: "http" | "grpc", port: number) =>
  makeTarget({ url: `127.0.0.1:${port}`, protocol, model: "" });

test("a server lists its models over each protocol", LIMIT, async () => {
  await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
  const http = await probeModels(triton("http", mock.httpPort));
  assert.ok(http.length > 0);
  assert.deepEqual(await probeModels(triton("grpc", mock.grpcPort)), http);
  const openai = await probeModels(makeOpenAiTarget(`127.0.0.1:${mock.httpPort}`, { model: "", isStreaming: false }));
  assert.ok(openai.length > 0);
});

test(
  "a server names the tokenizer of a model by its files, and that of an adapter by those of its parent",
  LIMIT,
  async () => {
    const data = [
      { id: "b", root: "org/base", parent: null },
      { id: "c", root: "./adapters/c", parent: "org/base" },
      { id: "a" },
    ];
    using server = await startAnsweringServer((response) => response.end(JSON.stringify({ object: "list", data })));
    const models = await probeModels(makeOpenAiTarget(server.url, { model: "", isStreaming: false }));
    assert.deepEqual(
      models.map(({ name, tokenizer }) => [name, tokenizer]),
      [
        ["a", undefined],
        ["b", "org/base"],
        ["c", "org/base"],
      ],
    );
  },
);

test("the mock names the tokenizer that it has", LIMIT, async () => {
  const llm = { ...DEFAULT_MOCK.llm, tokenizer: "o200k_base" } as const;
  await using mock = await startMock({ ...DEFAULT_MOCK, llm }, LOOPBACK);
  const models = await probeModels(makeOpenAiTarget(`127.0.0.1:${mock.httpPort}`, { model: "", isStreaming: false }));
  assert.deepEqual(
    models.map(({ tokenizer }) => tokenizer),
    ["o200k_base"],
  );
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
