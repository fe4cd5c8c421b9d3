import assert from "node:assert/strict";
import { test } from "node:test";
import { TokenGaps } from "../../../src/measure/tokens/token-gaps.ts";

/** Gaps between tokens by their place in the response. */

test("every gap has its position, and each position its mean over the responses that reach it", () => {
  const gaps = new TokenGaps();
  gaps.add([100, 110, 130]);
  gaps.add([50, 70]);
  gaps.add([5]);
  gaps.add([]);
  assert.equal(gaps.count, 3);
  assert.deepEqual(gaps.gaps(), [
    { position: 1, gapNs: 10 },
    { position: 2, gapNs: 20 },
    { position: 1, gapNs: 20 },
  ]);
  assert.deepEqual(gaps.means(), [
    { position: 1, gapNs: 15 },
    { position: 2, gapNs: 20 },
  ]);
});

test("of many gaps a sample from all parts and the longest stay; the means are of all", () => {
  const gaps = new TokenGaps(1_000);
  const responses = 20_000;
  for (let i = 0; i < responses; i++) gaps.add([0, i + 1, 2 * i + 2]);
  const kept = gaps.gaps();
  assert.equal(gaps.count, 2 * responses);
  assert.ok(kept.length >= 1_000 && kept.length <= 1_100, `${kept.length} are kept`);
  const gapsNs = kept.map(({ gapNs }) => gapNs);
  assert.equal(gapsNs.filter((gapNs) => gapNs > responses - 50).length, 100, "the 100 longest");
  const sample = gapsNs.slice(0, 1_000);
  const mean = sample.reduce((sum, gapNs) => sum + gapNs, 0) / sample.length;
  assert.ok(Math.abs(mean / (responses / 2) - 1) < 0.1, `the sample's mean is ${mean}`);
  assert.deepEqual(gaps.means(), [
    { position: 1, gapNs: (responses + 1) / 2 },
    { position: 2, gapNs: (responses + 1) / 2 },
  ]);
  const again = new TokenGaps(1_000);
  for (let i = 0; i < responses; i++) again.add([0, i + 1, 2 * i + 2]);
  assert.deepEqual(again.gaps(), kept, "the same sample each time");
});
