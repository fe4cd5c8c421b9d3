import assert from "node:assert/strict";
import { test } from "node:test";
import { errorOfLook, LIMIT_ERROR, planLooks } from "../../../src/measure/limits/looks.ts";

test("the errors of all looks together are the stated one, from the second window to the last", () => {
  for (const most of [2, 3, 5, 30, 299.5, 3600]) {
    const looks = planLooks(most);
    assert.deepEqual([looks[0]?.windowCount, looks.at(-1)?.windowCount], [2, Math.floor(most)]);
    const sum = looks.reduce((all, { error }) => all + error, 0);
    assert.ok(Math.abs(sum - LIMIT_ERROR) < 1e-12, String(sum));
    assert.ok(looks.every(({ windowCount }, index) => windowCount > (looks[index - 1]?.windowCount ?? 0)));
  }
  assert.deepEqual(
    planLooks(30).map(({ windowCount }) => windowCount),
    [2, 3, 4, 6, 9, 13, 20, 30],
  );
});

test("any number of looks has the stated error at most", () => {
  let sum = 0;
  for (let look = 1; look <= 10_000; look++) sum += errorOfLook(look);
  assert.ok(sum < LIMIT_ERROR && sum > 0.99 * LIMIT_ERROR, String(sum));
});
