import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { BinTally } from "../../../src/measure/tally/bin-tally.ts";

test("the order in which requests are added does not matter", () => {
  const times = fc.array(fc.tuple(fc.integer({ min: 1e9, max: 9e9 }), fc.boolean()), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(times, fc.constantFrom(1e3, 1e6, 1e9), (requests, stepNs) => {
      const cut = (all: typeof requests) => {
        const tally = new BinTally();
        const channel = tally.newChannel("times");
        for (const [at, isFailed] of all) {
          const endNs = (at * stepNs) / 1e9;
          if (isFailed) tally.addFailed(endNs);
          else channel.add(tally.add(endNs), at);
        }
        const { completions, samplesOf } = tally.cut(stepNs, 9 * stepNs);
        return [completions, samplesOf(channel).histogram];
      };
      assert.deepEqual(cut(requests), cut(requests.toReversed()));
    }),
  );
});

test("what was recorded outside of a window counts at its ends", () => {
  const tally = new BinTally();
  for (const endNs of [1e6, 5e6, 5.5e6, 9e6]) tally.add(endNs);
  const { counts, coveredNs, first, binNs } = tally.cut(4e6, 6e6).completions;
  assert.deepEqual(
    [first * binNs, counts[0], counts.at(-1), counts.reduce((sum, count) => sum + count)],
    [4e6, 1, 1, 4],
  );
  assert.equal(
    coveredNs.reduce((sum, ns) => sum + ns),
    2e6,
  );
});
