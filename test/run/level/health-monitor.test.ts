import assert from "node:assert/strict";
import { test } from "node:test";
import { HealthMonitor } from "../../../src/run/level/health-monitor.ts";
import { nowNs } from "../../../src/runtime/clock.ts";

test("the health monitor sees a busy thread, and a blocked event loop", async () => {
  const monitor = new HealthMonitor();
  monitor.start();
  await new Promise((resolve) => setTimeout(resolve, 30));
  const idle = monitor.take();
  const endNs = nowNs() + 120e6;
  while (nowNs() < endNs);
  await new Promise((resolve) => setTimeout(resolve, 1));
  const busy = monitor.take();
  monitor.stop();
  assert.ok(busy.cpuRatio > idle.cpuRatio, `${busy.cpuRatio} is not more than ${idle.cpuRatio}`);
  assert.ok(busy.loopLagMaxNs > 60e6, `${busy.loopLagMaxNs} ns late`);
  // What arrives while the loop is blocked waits for half of that on average, not for all of it.
  assert.ok(busy.loopLagMeanNs <= busy.loopLagMaxNs / 2 + 20e6, `${busy.loopLagMeanNs} of ${busy.loopLagMaxNs} ns`);
  assert.equal(idle.loopLagP99Ns, undefined, "two samples have no 99th percentile");
  const { coreWaitRatio = 0 } = busy;
  assert.ok(coreWaitRatio >= 0 && coreWaitRatio <= 1, `${coreWaitRatio}`);
});
