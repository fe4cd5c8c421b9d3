import assert from "node:assert/strict";
import { test } from "node:test";
import { leastOf, slopeMbPerHour, watchMemory } from "./watch.ts";

test("the slope is that of the best line, with twice its standard error", () => {
  const noise = [1, -1, -1, 1];
  const samples = [0, 600, 1200, 1800].map((sec, at) => [sec, 100 + sec / 60 + (noise[at] ?? 0)] as const);
  const { slope, error } = slopeMbPerHour(samples);
  // The rest is 4 in squares, of 2 degrees of freedom; the times are 1,800,000 in squares.
  const expected = 2 * Math.sqrt(4 / 2 / 1_800_000) * 3600;
  assert.deepEqual([slope.toFixed(6), error.toFixed(6)], ["60.000000", expected.toFixed(6)]);
});

test("of each minute the least counts", () => {
  const samples = [0, 20, 40, 60, 80, 100].map((sec, at) => [sec, [9, 3, 5, 4, 4, 8][at] as number] as const);
  assert.deepEqual(leastOf(samples, 60), [
    [20, 3],
    [60, 4],
  ]);
});

test("a program is watched until it ends, with the memory that it has", {
  skip: process.platform !== "linux",
}, async () => {
  const code =
    "const held = Buffer.alloc(64 * 2 ** 20, 1); setTimeout(() => process.exit(held.length === 0 ? 1 : 3), 1000)";
  const watched = await watchMemory([process.execPath, "-e", code], { everySec: 0.05, limitSec: 60 });
  assert.equal(watched.exitCode, 3);
  assert.ok(watched.peakMb > 64, `${watched.peakMb} MB`);
  assert.ok(watched.samples.length > 1);
});
