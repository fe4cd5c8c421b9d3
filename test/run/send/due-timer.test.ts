import assert from "node:assert/strict";
import { test } from "node:test";
import { DueTimer, nowNs, waitFinely } from "../../../src/runtime/clock.ts";
import { runtimeName } from "../../../src/runtime/runtime.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";

function makeTimer(hasFineWaits: boolean): { clock: FakeClock; timer: DueTimer; wokenMs: number[] } {
  const clock = new FakeClock({ hasFineWaits });
  const wokenMs: number[] = [];
  return { clock, timer: new DueTimer(() => wokenMs.push(clock.nowMs), clock), wokenMs };
}

for (const hasFineWaits of [true, false]) {
  const how = hasFineWaits ? "with fine waits" : "by turns of the event loop";
  for (const dueMs of [0, 0.005, 0.5, 3, 500, 2 ** 31])
    test(`a moment ${dueMs} ms away is met, never before (${how})`, async () => {
      const { clock, timer, wokenMs } = makeTimer(hasFineWaits);
      timer.set(dueMs * 1e6);
      await clock.advanceMs(dueMs + 1);
      assert.equal(wokenMs.length, 1);
      const lateMs = (wokenMs[0] as number) - dueMs;
      assert.ok(lateMs >= 0 && lateMs <= 0.002, `${lateMs} ms late`);
      assert.equal(clock.timerCount, hasFineWaits && dueMs > 0.02 ? 1 : 0, "only what keeps the process alive is left");
      timer.clear();
      assert.equal(clock.timerCount, 0);
    });

  test(`the moment set last counts, earlier or later (${how})`, async () => {
    const { clock, timer, wokenMs } = makeTimer(hasFineWaits);
    timer.set(500e6);
    timer.set(8e6);
    timer.set(12e6);
    await clock.advanceMs(600);
    assert.deepEqual(wokenMs.map(Math.round), [12]);
  });

  test(`a moment that is cleared does not come (${how})`, async () => {
    for (const dueNs of [5e3, 0.5e6, 20e6]) {
      const { clock, timer, wokenMs } = makeTimer(hasFineWaits);
      timer.set(dueNs);
      timer.clear();
      await clock.advanceMs(100);
      assert.deepEqual([wokenMs, clock.timerCount], [[], 0]);
    }
  });
}

test("the moments of this thread's clock are met too", async () => {
  for (const waitMs of [0, 1, 8]) {
    const dueNs = nowNs() + waitMs * 1e6;
    const { promise, resolve } = Promise.withResolvers<number>();
    new DueTimer(() => resolve(nowNs())).set(dueNs);
    assert.ok((await promise) >= dueNs);
  }
});

test("a due timer whose moments are near leaves the processor alone, where the runtime has fine waits", async () => {
  // Node and Deno wait in milliseconds only, and turn the event loop instead.
  if (waitFinely === undefined) return assert.notEqual(runtimeName, "bun");
  let left = 400;
  const { promise, resolve } = Promise.withResolvers<void>();
  let dueNs = nowNs();
  const timer = new DueTimer(() => {
    assert.ok(nowNs() >= dueNs);
    dueNs = nowNs() + 1e6;
    if (--left === 0) resolve();
    else timer.set(dueNs);
  });
  const begunNs = nowNs();
  const before = process.cpuUsage();
  timer.set(dueNs);
  await promise;
  const { user, system } = process.cpuUsage(before);
  const wallUs = (nowNs() - begunNs) / 1e3;
  assert.ok(wallUs > 399e3, `${wallUs} us for 399 waits of 1 ms`);
  assert.ok(user + system < wallUs / 2, `${user + system} us of CPU in ${wallUs} us`);
});
