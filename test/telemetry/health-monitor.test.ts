// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sleepMs } from "../../src/runtime/clock.ts";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { HealthMonitor, LoadMonitor } from "../../src/telemetry/health-monitor.ts";
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

test("a stop of the client at the end of a window is its lag, and no more than until that end", async () => {
  const clock = new FakeClock();
  const monitor = new HealthMonitor(clock);
  monitor.start();
  await clock.advanceMs(40);
  clock.spendMs(320 + GRAIN_MS);
  const endNs = clock.nowNs();
  // What the client does after the window.
  clock.spendMs(50);
  const { loopLagMaxNs, loopLagMeanNs } = monitor.take(endNs);
  assert.equal(loopLagMaxNs, 300e6);
  assert.ok(loopLagMeanNs > 100e6, `${loopLagMeanNs}`);
  await clock.advanceMs(100);
  assert.ok(monitor.take().loopLagMaxNs <= 50e6);
  monitor.stop();
});

test("only long times without running are standstills, each from its begin to its end", async () => {
  const clock = new FakeClock();
  const monitor = new LoadMonitor(clock);
  const startNs = clock.nowNs();
  monitor.start();
  await clock.advanceMs(40);
  clock.spendMs(900);
  await clock.advanceMs(20);
  assert.equal(monitor.standstills.length, 0);
  clock.spendMs(1500);
  await clock.advanceMs(0);
  monitor.take();
  const [{ startNs: fromNs, endNs: toNs } = { startNs: 0, endNs: 0 }, ...others] = monitor.standstills;
  assert.deepEqual([others.length, Math.round((toNs - startNs) / 1e6)], [0, 2460]);
  assert.ok(toNs - fromNs > 1470e6 && toNs - fromNs <= 1500e6, `${toNs - fromNs}`);
  for (let turn = 0; turn < 100; turn++) {
    clock.spendMs(1100);
    await clock.advanceMs(20);
  }
  assert.equal(monitor.standstills.length, 64);
  assert.ok(monitor.standstills.some((one) => one.startNs === fromNs));
  monitor.stop();
});

/** How far the system's count of CPU time may be behind. */
const TICK_MS = 20;

test("the CPU ratio is that of the thread's own time, of a busy window and of one that slept", async () => {
  const monitor = new HealthMonitor();
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  /** Checks a window between a clock that was read outside of it and one that was read inside. */
  const check = async (use: () => Promise<void> | void): Promise<void> => {
    const outer = [performance.now(), cpuMs()] as const;
    monitor.start();
    const inner = [performance.now(), cpuMs()] as const;
    await use();
    const innerMs = [performance.now() - inner[0], cpuMs() - inner[1]] as const;
    const { cpuRatio, coreWaitRatio = 0 } = monitor.take();
    const outerMs = [performance.now() - outer[0], cpuMs() - outer[1]] as const;
    const low = (innerMs[1] - TICK_MS) / outerMs[0];
    const high = (outerMs[1] + TICK_MS) / innerMs[0];
    assert.ok(cpuRatio >= low && cpuRatio <= high, `${cpuRatio} is not between ${low} and ${high}`);
    assert.ok(coreWaitRatio >= 0 && coreWaitRatio <= 1, `${coreWaitRatio}`);
  };
  await check(() => sleepMs(100));
  await check(() => {
    // This much of CPU time, however long the machine takes to grant it.
    const endMs = cpuMs() + 400;
    while (cpuMs() < endMs);
  });
  monitor.stop();
});
