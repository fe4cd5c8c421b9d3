import assert from "node:assert/strict";
import { test } from "node:test";
import { FailureLog } from "../../../src/run/judge/failure-log.ts";
import { explainEnd } from "../../../src/run/judge/run-error.ts";
import { LevelError } from "../../../src/run/level/level.ts";
import { makePlan } from "../../plan/make-plan.ts";

const counts = { completedCount: 0, failedCount: 0, cancelledCount: 0, lastSuccessNs: 0 };

function explain(style: "perf_analyzer" | "genai-perf" | "rampart", change: Partial<typeof counts> = {}): string {
  const plan = makePlan({ outputs: { style } });
  const { message, hint } = explainEnd(new LevelError("no window"), plan, { ...counts, ...change }, new FailureLog());
  return `${message}. ${hint}`;
}

test("a level without a request is told in the words of the command that measures it", () => {
  assert.match(explain("perf_analyzer"), /^no window\. Raise \{measurement\.mode\.windowMs\}/);
  for (const style of ["rampart", "genai-perf"] as const) {
    assert.match(explain(style), /^no request ended while a level was measured\. Measure it for longer/);
    assert.doesNotMatch(explain(style, { completedCount: 3 }), /--/);
    assert.match(explain(style, { failedCount: 3 }), /^all 3 requests failed/);
  }
});
