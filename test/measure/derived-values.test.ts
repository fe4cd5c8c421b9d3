import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inferPerSec,
  lateCount,
  responsesPerSec,
  sentPerSec,
  sequencesPerSec,
  stabilizingLatencyNs,
} from "../../src/measure/derived-values.ts";
import { makeWindow } from "./make-window.ts";

test("throughput counts batch items and is computed in single precision", () => {
  const window = makeWindow({ durationNs: 3e9, latenciesNs: new Array(10).fill(1e6) });
  assert.equal(inferPerSec(window, 4), Math.fround(40 / 3));
  assert.equal(sentPerSec(makeWindow({ durationNs: 2e9, sentCount: 10 })), 5);
});

test("the latency that counts", () => {
  const window = makeWindow({ latenciesNs: [1_500_700, 2_500_800] });
  assert.equal(stabilizingLatencyNs(window, null), 2_000_750);
  assert.equal(stabilizingLatencyNs(window, 99), 2_500_000);
});

test("responses and sequences have rates of their own", () => {
  const window = makeWindow({ durationNs: 4e9, responseCount: 30, sequenceCount: 2 });
  assert.deepEqual([responsesPerSec(window), sequencesPerSec(window)], [7.5, 0.5]);
});

test("a request is late from 1 ms on", () => {
  assert.equal(lateCount(makeWindow({ sendDelayNs: [0, 0.9e6, 1e6, 5e6] })), 2);
  assert.equal(lateCount(makeWindow()), 0);
});
