import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeInterval, judgePercentile, requestsToShow, worstState } from "../../src/measure/verdict-state.ts";

test("fail outweighs unresolved, which outweighs pass", () => {
  assert.equal(worstState([]), "pass");
  assert.equal(worstState(["pass", "unresolved", "pass"]), "unresolved");
  assert.equal(worstState(["unresolved", "fail", "pass"]), "fail");
});

test("an interval decides when the limit is outside of it", () => {
  const stateOf = (low: number | null, high: number | null): string =>
    judgeInterval({ comparison: "below", limit: 10 }, { value: 9, low, high });
  assert.deepEqual(
    [stateOf(1, 9), stateOf(10, 12), stateOf(8, 12), stateOf(8, null), stateOf(12, null), stateOf(null, null)],
    ["pass", "fail", "unresolved", "unresolved", "fail", "unresolved"],
  );
});

test("the result of a percentile is monotone in the number of requests beyond its limit", () => {
  const order = ["pass", "unresolved", "fail"];
  for (const percentile of [50, 90, 99]) {
    let worst = 0;
    for (let aboveCount = 0; aboveCount <= 400; aboveCount++) {
      const at = order.indexOf(judgePercentile("below", percentile, { count: 400, aboveCount }));
      assert.ok(at >= worst, `p${percentile}, ${aboveCount}`);
      worst = at;
    }
    assert.equal(worst, 2);
  }
  assert.deepEqual(
    [50, 90, 99].map((percentile) => requestsToShow("below", percentile)),
    [5, 29, 299],
  );
});
