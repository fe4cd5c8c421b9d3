import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { MockLlm } from "../../src/mock/llm.ts";
import { MockModel } from "../../src/mock/model.ts";
import { MOST_REQUESTS, warmUpMock } from "../../src/mock/warm-up.ts";

/** Requests at a time: the last ones may end after the bound. */
const LANES = 12;

describe("a warm-up runs the mock's own code, in bounded time:", { timeout: 60_000 }, () => {
  const { infer } = MockModel.prototype;
  const { answer } = MockLlm.prototype;
  let counts = { infer: 0, answer: 0 };
  beforeEach(() => {
    counts = { infer: 0, answer: 0 };
    MockModel.prototype.infer = function (inputs) {
      counts.infer++;
      assert.deepEqual(
        [...inputs].map(([name, bytes]) => [name, bytes.length]),
        [
          ["INPUT0", 64],
          ["INPUT1", 64],
        ],
      );
      return infer.call(this, inputs);
    };
    MockLlm.prototype.answer = function (...given) {
      counts.answer++;
      return answer.apply(this, given);
    };
  });
  afterEach(() => {
    Object.assign(MockModel.prototype, { infer });
    Object.assign(MockLlm.prototype, { answer });
  });

  for (const kind of ["http", "grpc"] as const)
    test(`tensors over ${kind}`, async () => {
      await warmUpMock([kind]);
      // More than once over each connection, so the answers were understood.
      assert.ok(counts.infer > 3 * LANES && counts.infer <= MOST_REQUESTS, String(counts.infer));
      assert.equal(counts.answer, 0);
    });
  test("chats", async () => {
    await warmUpMock(["chat"]);
    assert.ok(counts.answer > 3 * LANES && counts.answer <= MOST_REQUESTS, String(counts.answer));
    assert.equal(counts.infer, 0);
  });
  test("all kinds by default", async () => {
    await warmUpMock();
    assert.ok(counts.answer > 0 && counts.infer > 0, JSON.stringify(counts));
  });
});
