import assert from "node:assert/strict";
import { test } from "node:test";
import { MockLlm } from "../../src/mock/llm.ts";
import { MockModel } from "../../src/mock/model.ts";
import { MOST_REQUESTS, warmUpMock } from "../../src/mock/warm-up.ts";
import { runtimeName } from "../../src/runtime/runtime.ts";

test("a warm-up runs the mock's own code, in bounded time", { timeout: 60_000 }, async () => {
  const counts = { infer: 0, answer: 0 };
  const { infer } = MockModel.prototype;
  const { answer } = MockLlm.prototype;
  MockModel.prototype.infer = function (inputs) {
    counts.infer++;
    return infer.call(this, inputs);
  };
  MockLlm.prototype.answer = function (...given) {
    counts.answer++;
    return answer.apply(this, given);
  };
  try {
    await warmUpMock();
  } finally {
    Object.assign(MockModel.prototype, { infer });
    Object.assign(MockLlm.prototype, { answer });
  }
  assert.ok(counts.infer >= 1 && counts.answer >= 1, JSON.stringify(counts));
  assert.ok(counts.infer <= (runtimeName === "deno" ? 1 : 2) * MOST_REQUESTS, String(counts.infer));
});
