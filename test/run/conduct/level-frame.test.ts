import assert from "node:assert/strict";
import { test } from "node:test";
import { LevelError, LevelFrame } from "../../../src/run/conduct/level-frame.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { makeLevel } from "./make-level.ts";

const frameOf = (parts: Parameters<typeof makeLevel>[0] = {}): LevelFrame => {
  const { context } = makeLevel(parts);
  return new LevelFrame(context, 3);
};

test("the latency limit is compared in whole milliseconds", () => {
  const frame = frameOf({ latencyLimitMs: 5 });
  for (const [latencyNs, isOver] of [
    [4.999e6, false],
    [5e6, true],
    [5.9e6, true],
  ] as const)
    assert.equal(frame.isOverLimit(makeWindow({ latenciesNs: [latencyNs] })), isOver, `${latencyNs}`);
  assert.equal(frame.isOverLimit(makeWindow({ latenciesNs: [] })), false);
});

test("merged windows are counted, and the result is their sum", async () => {
  const frame = frameOf();
  assert.equal(frame.windowCount, 1);
  const merged = frame.merge([makeWindow({ latenciesNs: [1e6, 2e6] }), makeWindow({ latenciesNs: [3e6] })]);
  assert.deepEqual([frame.windowCount, merged.requestCount], [2, 3]);
  assert.deepEqual([(await frame.result("measured", merged, 2, {})).level, frame.hasHandedOver], [3, false]);
});

test("one window without any request is an error, unless the next load follows", async () => {
  const empty = makeWindow({ latenciesNs: [] });
  await assert.rejects(frameOf().finish(empty, []), LevelError);
  const { context } = makeLevel();
  const handOver = { isLast: false, prepare: () => Promise.resolve(), change: () => undefined };
  const { outcome } = await new LevelFrame({ ...context, handOver }, 1).finish(empty, []);
  assert.equal(outcome, "measured");
});
