import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Backoff, RequestTimeout } from "../../../src/run/send/backoff-and-timeout.ts";
import { Call } from "../../../src/transport/call.ts";
import type { Failure } from "../../../src/transport/failure.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";

/** Which requests are overdue, and when the next look is due. Times are in seconds here. */

const SEC = 1e9;

function makeWatch(sentAtSec: readonly (number | undefined)[], onCancel: (call: Call) => void = () => {}) {
  const calls = sentAtSec.map((atSec, slot) => {
    const call = new Call(slot);
    call.isActive = atSec !== undefined;
    call.sendStartNs = (atSec ?? 0) * SEC;
    return call;
  });
  const cancelled: (readonly [slot: number, failure: Failure])[] = [];
  const cancel = (slot: number, failure: Failure): void => {
    const call = calls[slot] as Call;
    call.isActive = false;
    cancelled.push([slot, failure]);
    onCancel(call);
  };
  const clock = new FakeClock();
  const watch = new RequestTimeout({ calls, cancel }, 2 * SEC, clock);
  const checkAt = (atSec: number): number => {
    clock.spendMs(atSec * 1000);
    return watch.check() / SEC;
  };
  return { clock, watch, calls, checkAt, cancelled };
}

describe("a request timeout of 2 s", () => {
  const cases = [
    { name: "leaves requests in time alone", sent: [0.5, 1], atSec: 2, cancelled: [], nextSec: 2.5 },
    { name: "fails the overdue one", sent: [0, 1], atSec: 2, cancelled: [0], nextSec: 3 },
    { name: "fails all that are overdue", sent: [0, 1, 3], atSec: 4, cancelled: [0, 1], nextSec: 5 },
    { name: "passes over slots without a request", sent: [undefined, 1.5], atSec: 3, cancelled: [], nextSec: 3.5 },
    {
      name: "looks again when a request sent now would be overdue",
      sent: [undefined],
      atSec: 3,
      cancelled: [],
      nextSec: 5,
    },
  ];
  for (const { name, sent, atSec, cancelled: expected, nextSec } of cases) {
    test(name, () => {
      const { checkAt, cancelled } = makeWatch(sent);
      assert.equal(checkAt(atSec), nextSec);
      assert.deepEqual(
        cancelled.map(([slot]) => slot),
        expected,
      );
      for (const [, failure] of cancelled)
        assert.deepEqual(failure, { kind: "timeout", message: "no complete response within 2 s" });
    });
  }

  test("does not fail the request that follows on the same slot", () => {
    const { checkAt, cancelled } = makeWatch([0], (call) => {
      call.isActive = true;
      call.sendStartNs = 2 * SEC;
    });
    assert.equal(checkAt(2), 4);
    assert.equal(cancelled.length, 1);
  });

  test("is found by the timer when the request is overdue, and so is the next one", async () => {
    const { clock, watch, calls, cancelled } = makeWatch([0, 1]);
    watch.start();
    watch.start();
    await clock.advanceMs(1999);
    assert.equal(cancelled.length, 0);
    await clock.advanceMs(2);
    assert.deepEqual(
      cancelled.map(([slot]) => slot),
      [0],
    );
    Object.assign(calls[0] as Call, { isActive: true, sendStartNs: clock.nowNs() });
    await clock.advanceMs(1000);
    assert.deepEqual(
      cancelled.map(([slot]) => slot),
      [0, 1],
    );
    watch.stop();
    await clock.advanceMs(10_000);
    assert.deepEqual([cancelled.length, clock.timerCount], [2, 0]);
  });

  test("does not count time in which the process stood still, and reads what has arrived before it decides", async () => {
    const { clock, watch, calls, cancelled } = makeWatch([0, 0]);
    watch.start();
    await clock.advanceMs(900);
    clock.spendMs(5000);
    await clock.advanceMs(400);
    assert.equal(cancelled.length, 0);
    Object.assign(calls[0] as Call, { isActive: false });
    // The look that was due at 1 s came 4.9 s late, so that the 2 s are over after 6.9 s.
    await clock.advanceMs(590);
    assert.equal(cancelled.length, 0);
    await clock.advanceMs(20);
    assert.deepEqual(
      cancelled.map(([slot]) => slot),
      [1],
    );
    watch.stop();
  });

  test("fails a request in the end, however often the process stands still", async () => {
    const { clock, watch, cancelled } = makeWatch([0]);
    watch.start();
    for (let count = 0; count < 20; count++) {
      await clock.advanceMs(490);
      clock.spendMs(3000);
    }
    await clock.advanceMs(0);
    assert.equal(cancelled.length, 1);
    watch.stop();
  });
});

function makeBackoff() {
  const clock = new FakeClock();
  const ready: number[] = [];
  return { clock, ready, backoff: new Backoff((slot) => ready.push(slot), clock) };
}

test("a slot waits twice as long with each failure in a row, a second at most", async () => {
  const { clock, ready, backoff } = makeBackoff();
  for (const waitMs of [20, 40, 80, 160, 320, 640, 1000, 1000]) {
    backoff.wait(3);
    await clock.advanceMs(waitMs - 1);
    assert.deepEqual([ready.splice(0), backoff.isWaiting(3)], [[], true], `${waitMs} ms`);
    await clock.advanceMs(1);
    assert.deepEqual([ready.splice(0), backoff.isWaiting(3)], [[3], false], `${waitMs} ms`);
  }
});

test("after a success a slot's first failure delays nothing and the second one 20 ms, and no other slot's", async () => {
  const { clock, ready, backoff } = makeBackoff();
  for (const slot of [0, 1]) backoff.wait(slot);
  await clock.advanceMs(20);
  backoff.reset(0);
  assert.deepEqual([backoff.wait(0), backoff.isWaiting(0)], [false, false]);
  for (const slot of [0, 1]) assert.equal(backoff.wait(slot), true);
  ready.length = 0;
  await clock.advanceMs(20);
  assert.deepEqual(ready, [0]);
});

test("clearing returns the waiting slots, and calls none", async () => {
  const { clock, ready, backoff } = makeBackoff();
  for (const slot of [4, 2]) backoff.wait(slot);
  assert.deepEqual(backoff.clear(), [4, 2]);
  await clock.advanceMs(5000);
  assert.deepEqual([ready, backoff.isWaiting(4), backoff.clear()], [[], false, []]);
});
