import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { LaneIds } from "../../src/load/lane-ids.ts";

test("ids are the lane in the upper bits and a counter, in decimal", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 65_535 }), fc.integer({ min: 1, max: 300 }), (lane, count) => {
      const ids = new LaneIds(lane);
      for (let n = 0; n < count; n++) {
        const text = new TextDecoder().decode(ids.next());
        assert.equal(BigInt(text), (BigInt(lane) << 48n) | BigInt(n));
      }
    }),
  );
});

test("ids grow by a digit where they must: 9 to 10, 999 to 1000", () => {
  const ids = new LaneIds(0);
  const texts = Array.from({ length: 1001 }, () => new TextDecoder().decode(ids.next()));
  assert.deepEqual(
    [texts[0], texts[9], texts[10], texts[99], texts[100], texts[999], texts[1000]],
    ["0", "9", "10", "99", "100", "999", "1000"],
  );
});
