import assert from "node:assert/strict";
import { test } from "node:test";
import { slopeMbPerHour, watchMemory } from "./watch.ts";

test("the slope is that of the best line", () => {
  const noise = [1, -1, -1, 1];
  const samples = [0, 600, 1200, 1800].map((sec, at) => [sec, 100 + sec / 60 + (noise[at] ?? 0)] as const);
  assert.equal(slopeMbPerHour(samples).toFixed(6), "60.000000");
  assert.equal(
    slopeMbPerHour([
      [0, 5],
      [10, 5],
    ]),
    0,
  );
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
