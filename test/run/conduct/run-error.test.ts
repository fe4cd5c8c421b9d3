import assert from "node:assert/strict";
import { test } from "node:test";
import { RunError, userError } from "../../../src/plan/problem.ts";
import { LevelError } from "../../../src/run/conduct/level-frame.ts";
import { explainEnd, toRunError } from "../../../src/run/conduct/run-error.ts";
import { FailureLog } from "../../../src/run/judge/failure-log.ts";

const counts = { completedCount: 0, failedCount: 0, cancelledCount: 0, lastSuccessNs: 0 };

test("an end without a success names failures, if any, and always has its code", () => {
  for (const [change, message] of [
    [{}, "no request succeeded while a level was measured"],
    [{ completedCount: 3, failedCount: 1 }, "no request succeeded while a level was measured"],
    [{ failedCount: 3 }, "all 3 requests failed: "],
  ] as const) {
    const error = explainEnd(new LevelError(), { ...counts, ...change }, new FailureLog());
    assert.deepEqual([error.code, error.message], ["no-valid-requests", message]);
  }
});

test("other errors keep their message", () => {
  const refused = new RunError("refused", "no", "Look.");
  assert.equal(explainEnd(refused, counts, new FailureLog()), refused);
  const wrong = toRunError(userError("missing", "in.json", "is empty", "Fill it."));
  assert.deepEqual([wrong.code, wrong.message], ["unsupported", "in.json: is empty. Fill it."]);
  assert.deepEqual([toRunError(new Error("oops")).code, toRunError("oops").message], ["internal", "oops"]);
});
