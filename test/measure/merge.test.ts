import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeWindows } from "../../src/measure/merge.ts";
import { inferPerSec } from "../../src/measure/metrics.ts";
import { makeDelta, makeWindow } from "./make-window.ts";

test("three windows merge into one: counts add up, rates are over the whole length", () => {
  const windows = [
    makeWindow({
      startNs: 0,
      durationNs: 1e9,
      latenciesNs: [1e6],
      sendMeanNs: 100,
      overheadPct: 1,
      server: makeDelta(1),
    }),
    makeWindow({
      startNs: 1e9,
      durationNs: 2e9,
      latenciesNs: [2e6, 3e6],
      sendMeanNs: 400,
      overheadPct: 2,
      failedCount: 2,
      server: makeDelta(2),
    }),
    makeWindow({
      startNs: 3e9,
      durationNs: 1e9,
      latenciesNs: [4e6, 5e6, 6e6],
      sendMeanNs: 700,
      overheadPct: 6,
      delayedCount: 3,
      sentCount: 9,
      server: makeDelta(3),
    }),
  ];
  const merged = mergeWindows(windows);
  assert.deepEqual([merged.startNs, merged.endNs, merged.durationNs], [0, 4e9, 4e9]);
  assert.deepEqual([merged.requestCount, merged.failedCount, merged.delayedCount, merged.sentCount], [6, 2, 3, 12]);
  assert.deepEqual([merged.latency.count, merged.latency.minNs, merged.latency.maxNs], [6, 1e6, 6e6]);
  assert.equal(merged.scheduledLatency, merged.latency);
  assert.equal(merged.sendMeanNs, (100 + 2 * 400 + 3 * 700) / 6);
  assert.equal(merged.overheadPct, 3);
  assert.deepEqual(merged.server, makeDelta(6));
  assert.equal(inferPerSec(merged, 1), 1.5);
  assert.throws(() => mergeWindows([]));
});

test("a merge keeps scheduled latencies separate and has no server times when one window lacks them", () => {
  const merged = mergeWindows([
    makeWindow({ latenciesNs: [1e6], scheduledNs: [9e6], server: makeDelta(1) }),
    makeWindow({ startNs: 1e9, latenciesNs: [1e6], scheduledNs: [8e6], health: { loopLagMaxNs: 5, cpuRatio: 0.5 } }),
  ]);
  assert.deepEqual(
    [merged.latency.maxNs, merged.scheduledLatency.maxNs, merged.scheduledLatency.minNs],
    [1e6, 9e6, 8e6],
  );
  assert.equal(merged.server, undefined);
  assert.equal(merged.health.loopLagMaxNs, 5);
  assert.ok(Math.abs(merged.health.cpuRatio - 0.3) < 1e-12);
});

test("there is nothing to merge without a window", () => {
  assert.throws(() => mergeWindows([]), /no windows/);
});
