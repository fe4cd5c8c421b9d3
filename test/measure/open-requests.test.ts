import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_OPEN_REQUESTS, sumOpenRequests } from "../../src/measure/open-requests.ts";

test("the requests in flight are counted, with the time since each was sent", () => {
  assert.deepEqual(sumOpenRequests([10, 40, 100], 100), { count: 3, ageSumNs: 150 });
  assert.deepEqual(sumOpenRequests([], 100), NO_OPEN_REQUESTS);
});

test("a request that is sent after the moment has no age", () => {
  assert.deepEqual(sumOpenRequests([90, 120], 100), { count: 2, ageSumNs: 10 });
});
