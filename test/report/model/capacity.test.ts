import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CapacityPlan } from "../../../src/plan/plan.ts";
import { toReportJson } from "../../../src/report/json/report-json.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { makeLevel, makeResult } from "../make-result.ts";
import { linesOf, modelOf, valuesOf } from "./make-model.ts";

/** The knee of a sweep, and what a server can do for which price. */

const levels = [1, 2, 4, 8];

/** A level at which a server answers this number of requests in a second. */
function level(users: number, requestCount: number): ReturnType<typeof makeLevel> {
  return makeLevel({ level: users, window: makeWindow({ latenciesNs: new Array(requestCount).fill(1_000_000) }) });
}

function planOf(search: "linear" | "knee", capacity?: CapacityPlan): PlanChange {
  const load = { kind: "concurrency", levels: { kind: "list", values: levels }, search } as const;
  return { load, ...(capacity === undefined ? {} : { capacity }) };
}

describe("the knee of a sweep", () => {
  test("is the lowest load near the highest throughput", () => {
    const model = modelOf(planOf("knee"), [level(1, 30), level(2, 60), level(4, 62), level(8, 58)]);
    assert.deepEqual(linesOf(model, "levels"), [
      "throughput stops growing at concurrency 2 (90 % of the highest or more)",
    ]);
  });

  test("is not reached where the last level still brings more", () => {
    const model = modelOf(planOf("knee"), [level(1, 30), level(2, 60)]);
    assert.deepEqual(linesOf(model, "levels"), [
      "throughput still grows at concurrency 2, the last level: the server is not at its limit",
    ]);
  });

  test("of a list of levels is reported if they reach it", () => {
    const linesOfList = (...counts: readonly number[]) =>
      linesOf(
        modelOf(
          planOf("linear"),
          counts.map((count, index) => level(levels[index] as number, count)),
        ),
        "levels",
      );
    assert.deepEqual(linesOfList(30, 60, 62), [
      "throughput stops growing at concurrency 2 (90 % of the highest or more)",
    ]);
    assert.deepEqual(linesOfList(30, 60, 120), []);
    assert.deepEqual(linesOfList(30, 30), []);
  });

  test("is not where throughput grows with loads that are close to each other", () => {
    const close = [20, 21, 22].map((users) => level(users, 10 * users));
    assert.deepEqual(linesOf(modelOf(planOf("linear"), close), "levels"), []);
    assert.deepEqual(linesOf(modelOf(planOf("knee"), close), "levels"), [
      "throughput still grows at concurrency 22, the last level: the server is not at its limit",
    ]);
  });
});

describe("the capacity", () => {
  // At the knee: 60 a second on 3 GPUs, which cost 3 × 7.2 / 3600 = 0.006 a second, so 0.0001 each.
  const measured = [level(1, 30), level(2, 60), level(4, 62)];

  test("is that at the knee, per GPU, with the cost of a million and whole servers for the users", () => {
    const model = modelOf(planOf("linear", { gpuCount: 3, gpuHourPrice: 7.2, targetUsers: 5 }), measured);
    const section = model.sections.find(({ id }) => id === "capacity");
    assert.equal(section?.title, "Capacity of 3 GPUs at 7.2 per GPU hour");
    assert.equal(section?.isSummary, true);
    const [table] = section?.tables ?? [];
    assert.deepEqual(table && valuesOf(table), [
      { level: 2, throughputPerGpu: 20, costPerMillion: 100, targetGpuCount: 9 },
    ]);
    assert.deepEqual(
      table?.columns.map(({ title }) => title),
      ["concurrency", "infer/s per GPU", "cost per 1M inferences", "GPUs for 5 users"],
    );
    assert.match(section?.lines?.join() ?? "", /whole servers .* \(linear extrapolation\)/);
  });

  test("has neither cost nor number of GPUs where nobody asks for them", () => {
    const model = modelOf(planOf("linear", { gpuCount: 1 }), measured);
    const section = model.sections.find(({ id }) => id === "capacity");
    assert.equal(section?.title, "Capacity of 1 GPU");
    assert.deepEqual(section?.lines, []);
    assert.deepEqual(section?.tables.map(valuesOf), [[{ level: 2, throughputPerGpu: 60 }]]);
  });

  test("is that of the highest load that keeps the limits of a search, and unknown where no load does", () => {
    const change = planOf("linear", { gpuCount: 1 });
    const found = modelOf(change, measured, { findMax: { highest: 1, next: 2, isResolved: true } });
    assert.deepEqual(found.sections.find(({ id }) => id === "capacity")?.tables.map(valuesOf), [
      [{ level: 1, throughputPerGpu: 30 }],
    ]);
    const none = modelOf(change, measured, { findMax: { next: 1, isResolved: true } });
    assert.deepEqual(linesOf(none, "capacity"), ["the capacity of 1 GPU is not known: every load breaks a limit"]);
    const open = modelOf(change, measured, { findMax: { isResolved: false } });
    assert.deepEqual(linesOf(open, "capacity"), [
      "the capacity of 1 GPU is not known: no load is certain to keep the limits",
    ]);
    assert.equal(none.sections.find(({ id }) => id === "capacity")?.isSummary, true);
  });

  test("is unknown where no request succeeded", () => {
    const model = modelOf(planOf("linear", { gpuCount: 2 }), [level(1, 0)]);
    assert.deepEqual(linesOf(model, "capacity"), ["the capacity of 2 GPUs is not known: no request succeeded"]);
  });

  test("says that the server may do more where the load was not raised further", () => {
    const change = planOf("linear", { gpuCount: 1 });
    const linesOfRun = (...given: Parameters<typeof modelOf>): readonly string[] =>
      linesOf(modelOf(...given), "capacity");
    const more = ["the server may do more: the load was not raised above this"];
    assert.deepEqual(linesOfRun(change, [level(1, 30), level(2, 60)]), more);
    assert.deepEqual(linesOfRun(change, measured), []);
    assert.deepEqual(linesOfRun(change, measured, { findMax: { highest: 4, isResolved: true } }), more);
    assert.deepEqual(linesOfRun(change, measured, { findMax: { highest: 2, next: 4, isResolved: true } }), []);
  });

  test("is not decided where the search is not, whether or not a higher load is known to break a limit", () => {
    const change = planOf("linear", { gpuCount: 1 });
    for (const next of [{}, { next: 4 }]) {
      const findMax = { highest: 1, ...next, isResolved: false };
      assert.deepEqual(linesOf(modelOf(change, measured, { findMax }), "capacity"), [
        "not decided, the server may do more: the search could not decide the loads above this",
      ]);
      const plan = makePlan(change);
      assert.equal(toReportJson(plan, makeResult(plan, measured, { findMax })).capacity?.isLowerBound, true);
    }
  });

  test("is not reported where the plan does not say what the server runs on", () => {
    assert.equal(
      modelOf(planOf("linear"), measured).sections.some(({ id }) => id === "capacity"),
      false,
    );
  });
});
