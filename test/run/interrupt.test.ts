import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RunError } from "../../src/plan/problem.ts";
import { RunSignal } from "../../src/run/interrupt.ts";
import { FakeClock } from "../runtime/fake-clock.ts";

const isInterruption = (error: unknown): boolean => error instanceof RunError && error.code === "interrupted";

test("an interrupt stops a run, and is not an error", async () => {
  const signal = new RunSignal();
  assert.equal(signal.isStopped, false);
  signal.interrupt();
  await Promise.all([signal.stopped, signal.interrupted]);
  assert.deepEqual([signal.isStopped, signal.isInterrupted, signal.error], [true, true, undefined]);
});

test("the first reason counts", async () => {
  const signal = new RunSignal();
  signal.fail(new RunError("unreachable", "first", ""));
  signal.fail(new RunError("stalled", "second", ""));
  await Promise.all([signal.stopped, signal.failed]);
  assert.deepEqual([signal.error?.message, signal.isInterrupted], ["first", false]);
});

test("a failure after an interrupt is signalled, but is not the run's error", async () => {
  const signal = new RunSignal();
  signal.interrupt();
  signal.fail(new RunError("unreachable", "late", ""));
  await signal.failed;
  assert.equal(signal.error, undefined);
});

describe("a step of the set-up", () => {
  test("gives what it has", async () => {
    assert.equal(await new RunSignal().unlessInterrupted(Promise.resolve(7)), 7);
  });

  test("that fails by itself keeps its error", async () => {
    await assert.rejects(new RunSignal().unlessInterrupted(Promise.reject(new Error("no"))), /^Error: no$/);
  });

  test("that ends after an interrupt, well or not, is an interruption", async () => {
    for (const settle of [Promise.resolve(7), Promise.reject(new Error("closed"))]) {
      const signal = new RunSignal();
      signal.interrupt();
      await assert.rejects(signal.unlessInterrupted(settle), isInterruption);
    }
  });

  test("that hangs is not waited for longer than 1 s after an interrupt", async () => {
    const clock = new FakeClock();
    const signal = new RunSignal(clock);
    let isOver = false;
    const step = signal.unlessInterrupted(new Promise(() => {})).catch((error: unknown) => {
      isOver = isInterruption(error);
    });
    await clock.advanceMs(10_000);
    signal.interrupt();
    await clock.advanceMs(999);
    assert.equal(isOver, false);
    await clock.advanceMs(1);
    await step;
    assert.equal(isOver, true);
  });
});
