import assert from "node:assert/strict";
import { test } from "node:test";
import { WindowCutter } from "../../../src/run/conduct/window-cutter.ts";
import { makeDelta } from "../../measure/make-window.ts";
import { starterOf } from "../send/fake-client.ts";
import { makeLevel, settleWithin } from "./make-level.ts";

const ENDLESS = Number.POSITIVE_INFINITY;

test("windows follow one another without a gap, and each request is in one of them", async () => {
  const { clock, context, driver } = makeLevel();
  await starterOf(driver).start({ kind: "closed", concurrency: 2 }, ENDLESS);
  const windows = new WindowCutter(context);
  await windows.begin(undefined);
  const found: number[][] = [];
  for (const lengthMs of [95, 30, 75]) {
    await clock.advanceMs(lengthMs);
    const { startNs, endNs, requestCount, sentCount, openBeforeCount, openAfterCount } = await windows.cut(
      clock.nowNs(),
    );
    found.push([
      (startNs - 50e9) / 1e6,
      (endNs - 50e9) / 1e6,
      requestCount,
      sentCount,
      openBeforeCount,
      openAfterCount,
    ]);
  }
  assert.deepEqual(found, [
    [0, 95, 18, 18, 2, 2],
    [95, 125, 6, 6, 2, 2],
    [125, 200, 16, 16, 2, 2],
  ]);
  driver.close();
});

test("records before the first window are discarded", async () => {
  const { clock, context, driver } = makeLevel();
  await starterOf(driver).start({ kind: "closed", concurrency: 1 }, ENDLESS);
  await clock.advanceMs(55);
  const windows = new WindowCutter(context);
  await windows.begin(undefined);
  await clock.advanceMs(10);
  const { requestCount, durationNs } = await windows.cut(clock.nowNs());
  assert.deepEqual([requestCount, durationNs], [1, 10e6]);
  driver.close();
});

test("without load the window begins once the server has reported its counters", async () => {
  const { clock, context } = makeLevel({
    counters: () => new Promise((resolve) => clockOf().after(40, () => resolve([makeDelta(0)]))),
  });
  const clockOf = (): typeof clock => clock;
  const windows = new WindowCutter(context);
  await settleWithin(clock, 100, windows.begin(Promise.resolve()));
  assert.equal(windows.startNs, 50.04e9);
  assert.equal(windows.hasServerCounters, true);
});

test("the server's increase is that of the window; undefined without counters", async () => {
  let count = 5;
  const { clock, context, driver } = makeLevel({
    counters: () => Promise.resolve([makeDelta(count, { name: "m" })]),
  });
  const { name, version } = context.session.service.model;
  const counters = () => Promise.resolve([makeDelta(count, { name, version: version === "" ? "1" : version })]);
  const windows = new WindowCutter({ ...context, session: { ...context.session, counters } });
  await windows.begin(undefined);
  await starterOf(driver).start({ kind: "closed", concurrency: 1 }, 3);
  await clock.advanceMs(50);
  count = 8;
  assert.equal((await windows.cut(clock.nowNs())).server?.successCount, 3);
  const silent = makeLevel();
  const none = new WindowCutter(silent.context);
  await none.begin(undefined);
  assert.deepEqual([(await none.cut(silent.clock.nowNs())).server, none.hasServerCounters], [undefined, false]);
  driver.close();
});

test("counters that can no longer be read end the run, and the window keeps its requests", async () => {
  let isAway = false;
  const { clock, context, driver, errors } = makeLevel({
    counters: () => (isAway ? Promise.reject(new Error("gone")) : Promise.resolve([makeDelta(0)])),
  });
  const windows = new WindowCutter(context);
  await windows.begin(undefined);
  await starterOf(driver).start({ kind: "closed", concurrency: 1 }, 2);
  await clock.advanceMs(50);
  isAway = true;
  const { requestCount, server } = await windows.cut(clock.nowNs());
  assert.deepEqual([requestCount, server, errors.map(String)], [2, undefined, ["Error: gone"]]);
  driver.close();
});
