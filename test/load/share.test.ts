import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { countOf, numberOf } from "../../src/load/share.ts";
import { sum } from "../../src/plan/units.ts";
import { sharesOf } from "./shares-of.ts";

/** What several senders own together is what one of them sends alone. */

const SENDERS = [1, 2, 3, 4, 5, 6, 7];

test("the shares of a number add up to it, and differ by one at most", () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.integer({ min: 1, max: 7 }), (total, count) => {
      const parts = sharesOf(count).map((share) => countOf(total, share));
      assert.equal(sum(parts), total);
      assert.ok(Math.max(...parts) - Math.min(...parts) <= 1, parts.join(" "));
    }),
  );
});

test("each number belongs to one sender", () => {
  for (const count of SENDERS) {
    const owned = sharesOf(count).flatMap((share) =>
      Array.from({ length: countOf(100, share) }, (_, own) => numberOf(own, share)),
    );
    assert.deepEqual(
      owned.sort((a, b) => a - b),
      Array.from({ length: 100 }, (_, number) => number),
    );
  }
});

test("infinitely many requests are infinitely many for each owner, and none for others", () => {
  assert.equal(countOf(Number.POSITIVE_INFINITY, { index: 1, count: 2 }), Number.POSITIVE_INFINITY);
  assert.equal(countOf(Number.POSITIVE_INFINITY, { index: 2, count: 2 }), 0);
});
