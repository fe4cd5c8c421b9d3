import assert from "node:assert/strict";
import { test } from "node:test";
import { compareWithServer } from "./truth.ts";

const served = (receivedMs: number, firstMs: number, lastMs: number) => ({
  receivedNs: receivedMs * 1e6,
  firstNs: firstMs * 1e6,
  lastNs: lastMs * 1e6,
});

test("times are held against the server's, request by request in their order", () => {
  const log = [served(100, 150, 340), served(0, 50, 240)];
  const measured = [
    { sentNs: 5n, firstMs: 51, lastMs: 241 },
    { sentNs: 105n, firstMs: 53, lastMs: 262 },
  ];
  const truth = compareWithServer(measured, log, { tokens: 20, users: 1 });
  assert.deepEqual([truth.ttftErrorAvgMs, truth.ttftErrorP99Ms], [2, 3]);
  assert.deepEqual([truth.laterErrorAvgMs, truth.laterErrorP99Ms], [3, 3]);
  // The second one's intervals are 19 ms longer in all, so 1 ms each.
  assert.equal(truth.itlErrorMs.toFixed(9), "0.500000000");
});

test("requests that only one side has do not match", () => {
  const few = { tokens: 2, users: 1 };
  const stream = { sentNs: 0n, firstMs: 1, lastMs: 2 };
  assert.throws(
    () => compareWithServer([stream, stream], [served(0, 1, 2)], few),
    /recorded 2 requests, the server answered 1/,
  );
  assert.throws(() => compareWithServer([], [served(0, 1, 2), served(1, 2, 3)], few), /recorded 0/);
});
