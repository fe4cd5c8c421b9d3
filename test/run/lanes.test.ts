import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Plan } from "../../src/plan/plan.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";
import { callModeOf, laneOptionsOf, slotCountOf, UNKNOWN_MODEL } from "../../src/run/lanes.ts";
import { makePlan, type PlanChange, rateLoad } from "../plan/make-plan.ts";

const UNSHARED = 2 ** 30;
const sequenceModel = { isSequence: true, isDecoupled: false };
const decoupledModel = { isSequence: false, isDecoupled: true };

const concurrency = (...values: number[]): PlanChange => ({
  load: { kind: "concurrency", levels: { kind: "list", values }, search: "linear" },
});
const endless: PlanChange = {
  load: { kind: "concurrency", levels: { kind: "range", start: 1, end: null, step: 1 }, search: "linear" },
};
const rate: PlanChange = {
  load: rateLoad([10]),
};
const searchOf = (plan: Plan) => prepareLoad(plan.load).search;

describe("the call mode", () => {
  const CASES: readonly (readonly [name: string, plan: PlanChange, model: typeof UNKNOWN_MODEL, mode: string])[] = [
    ["a model that answers once", {}, UNKNOWN_MODEL, "sync"],
    ["a model with sequences", {}, sequenceModel, "async"],
    ["a decoupled model", {}, decoupledModel, "async"],
    ["streams", { target: { protocol: "grpc", isStreaming: true } }, UNKNOWN_MODEL, "async"],
    ["what the plan says, whatever the model", { client: { callMode: "sync" } }, sequenceModel, "sync"],
  ];
  for (const [name, change, model, mode] of CASES)
    test(`of ${name} is ${mode}`, () => assert.equal(callModeOf(makePlan(change), model), mode));
});

describe("lanes", () => {
  const CASES: readonly (readonly [name: string, plan: PlanChange, model: typeof UNKNOWN_MODEL, lanes: number])[] = [
    ["each request outstanding is one in a synchronous closed loop", concurrency(50), UNKNOWN_MODEL, UNSHARED],
    ["16 share an asynchronous closed loop", { ...concurrency(4), client: { callMode: "async" } }, UNKNOWN_MODEL, 16],
    [
      "as many as the largest level, above 16",
      { ...concurrency(4, 40), client: { callMode: "async" } },
      UNKNOWN_MODEL,
      40,
    ],
    ["16 where a range has no end", { ...endless, client: { callMode: "async" } }, UNKNOWN_MODEL, 16],
    ["as many as asked for", { ...concurrency(40), client: { callMode: "async", maxLanes: 3 } }, UNKNOWN_MODEL, 3],
    ["4 share a schedule", rate, UNKNOWN_MODEL, 4],
    ["a schedule has no more than ports", { ...rate, client: { maxLanes: 1_000_000 } }, UNKNOWN_MODEL, 65_536],
    ["no more than sequences share a schedule", { ...rate, client: { maxLanes: 9 } }, sequenceModel, 4],
  ];
  for (const [name, change, model, lanes] of CASES)
    test(name, () => {
      const plan = makePlan(change);
      assert.equal(laneOptionsOf(plan, searchOf(plan), model).laneCount, lanes);
    });

  test("of several senders have a sequence each, or are as many everywhere", () => {
    const lanesOf = (change: PlanChange, model: typeof UNKNOWN_MODEL, count: number): number[] => {
      const plan = makePlan(change);
      const senders = Array.from({ length: count }, (_, index) => ({ index, count }));
      return senders.map((share) => laneOptionsOf(plan, searchOf(plan), model, share).laneCount);
    };
    // A sender without a sequence sends nothing.
    assert.deepEqual(lanesOf(rate, sequenceModel, 3), [2, 1, 1]);
    assert.deepEqual(lanesOf(rate, sequenceModel, 5), [1, 1, 1, 1, 1]);
    assert.deepEqual(lanesOf(rate, UNKNOWN_MODEL, 3), [2, 2, 2]);
  });

  test("keep the order of requests on streams", () => {
    const plan = makePlan({ target: { protocol: "grpc", isStreaming: true } });
    const { keepsOrder, isSync, sequenceCount, isSerial } = laneOptionsOf(plan, searchOf(plan), UNKNOWN_MODEL);
    assert.deepEqual([keepsOrder, isSync, sequenceCount, isSerial], [true, false, 4, false]);
  });
});

describe("requests outstanding", () => {
  const CASES: readonly (readonly [name: string, plan: PlanChange, count: number])[] = [
    ["are the largest level's", concurrency(3, 7), 7],
    ["are many where a range has no end", endless, 256],
    ["are many in an asynchronous schedule", { ...rate, client: { callMode: "async" } }, 256],
    ["are one for each lane of a synchronous one", { ...rate, client: { callMode: "sync", maxLanes: 5 } }, 5],
  ];
  for (const [name, change, count] of CASES)
    test(name, () => {
      const plan = makePlan(change);
      assert.equal(slotCountOf(plan, searchOf(plan), UNKNOWN_MODEL), count);
    });
});
