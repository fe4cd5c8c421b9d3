import assert from "node:assert/strict";
import { test } from "node:test";
import { sleepMs } from "../../src/runtime/clock.ts";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { HealthMonitor } from "../../src/telemetry/health-monitor.ts";
import { FakeClock } from "../runtime/fake-clock.ts";

/** How late timers may be without being late. */
const GRAIN_MS = runtimeName === "bun" ? 0.1 : 1;

test("the loop's lag is the delay of its timers, and a long one counts for all timers that waited", async () => {
  const clock = new FakeClock();
  const monitor = new HealthMonitor(clock);
  monitor.start();
  await clock.advanceMs(20);
  clock.spendMs(60 + GRAIN_MS);
  await clock.advanceMs(0);
  const { loopLagMaxNs, loopLagMeanNs, loopLagP99Ns } = monitor.take();
  // The timer of 40 ms came at 80: those of 60 and 80 ms waited as well, and then came at once.
  assert.equal(loopLagMaxNs, 40e6);
  // 0 | 40 and 20 and 0 | 0 | 0
  assert.ok(Math.abs(loopLagMeanNs - 10e6) < 1, `${loopLagMeanNs}`);
  assert.equal(loopLagP99Ns, undefined, "few samples have no 99th percentile");
  monitor.stop();
});

test("each window has its own lag, and from 100 samples on a 99th percentile", async () => {
  const clock = new FakeClock();
  const monitor = new HealthMonitor(clock);
  monitor.start();
  clock.spendMs(50);
  await clock.advanceMs(20);
  assert.ok(monitor.take().loopLagMaxNs > 20e6);
  await clock.advanceMs(20 * 150);
  const { loopLagMaxNs, loopLagP99Ns } = monitor.take();
  assert.deepEqual([loopLagMaxNs, loopLagP99Ns], [0, 0]);
  monitor.stop();
  assert.equal(clock.timerCount, 0);
});

test("a busy thread uses more of a core than one that sleeps, and ratios are of the window", async () => {
  const monitor = new HealthMonitor();
  monitor.start();
  await sleepMs(500);
  const idle = monitor.take();
  // This much of CPU time, however long the machine takes to grant it.
  const before = process.cpuUsage();
  let used = before;
  while (used.user + used.system < before.user + before.system + 400_000) used = process.cpuUsage();
  const busy = monitor.take();
  monitor.stop();
  assert.ok(busy.cpuRatio > idle.cpuRatio, `${busy.cpuRatio} is not more than ${idle.cpuRatio}`);
  const { coreWaitRatio = 0 } = busy;
  assert.ok(coreWaitRatio >= 0 && coreWaitRatio <= 1, `${coreWaitRatio}`);
});
