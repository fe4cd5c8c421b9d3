import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Reachability } from "../../src/run/reachability.ts";
import type { Failure, FailureKind } from "../../src/transport/failure.ts";

/** When a target that loses connections counts as gone. Times are in seconds here. */

const failed = (kind: FailureKind, server?: string): Failure => ({ kind, message: "", server });

/** Failures at their times; what the last one says. @param lastSuccess when a request succeeded, before all of them or between */
function isGone(
  serverCount: number,
  failures: readonly (readonly [atSec: number, failure: Failure])[],
  lastSuccess = 0.5,
): boolean {
  const reachability = new Reachability(serverCount);
  let gone = false;
  for (const [atSec, failure] of failures)
    gone = reachability.isGone(failure, atSec * 1e9, lastSuccess <= atSec ? lastSuccess * 1e9 : 0);
  return gone;
}

describe("a target is gone", () => {
  const refused = failed("connect");

  test("when it refuses for 5 s without a success between", () => {
    assert.equal(isGone(1, [[1, refused]]), false);
    assert.equal(
      isGone(1, [
        [1, refused],
        [5.9, refused],
      ]),
      false,
    );
    assert.equal(
      isGone(1, [
        [1, refused],
        [6, refused],
      ]),
      true,
    );
    assert.equal(
      isGone(
        1,
        [
          [1, refused],
          [6, refused],
        ],
        3,
      ),
      false,
    );
  });

  test("but not when it answers, be it with an error", () => {
    assert.equal(
      isGone(1, [
        [1, refused],
        [2, failed("http")],
        [6, refused],
      ]),
      false,
    );
  });

  test("when it closes many connections, not when it closes a few", () => {
    const closed = (count: number) => Array.from({ length: count }, (_, i) => [1 + i, failed("closed")] as const);
    assert.equal(isGone(1, closed(7)), false);
    assert.equal(isGone(1, closed(8)), true);
  });

  test("of several servers when all of them are: a slow one may still answer", () => {
    const one = failed("connect", "a:1");
    const other = failed("tls", "b:1");
    assert.equal(
      isGone(2, [
        [1, one],
        [9, one],
      ]),
      false,
    );
    assert.equal(
      isGone(2, [
        [1, one],
        [3, other],
        [9, one],
      ]),
      true,
    );
    assert.equal(
      isGone(
        2,
        [
          [1, one],
          [3, other],
          [9, one],
          [20, one],
        ],
        10,
      ),
      false,
    );
  });
});
