import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canBePhase, type PhasesLoadPlan } from "../../src/load/phases.ts";
import type { LoadPlan } from "../../src/plan/load-plan.ts";
import { word } from "../../src/plan/messages.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { UserError } from "../../src/plan/problem.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { describeLevel } from "../../src/registry/level-names.ts";
import {
  hasMeasuredSchedule,
  LOAD_MODES,
  levelUnitOf,
  loadModeOf,
  planOfPhase,
  prepareLoad,
} from "../../src/registry/load-modes.ts";
import { makePlan } from "../plan/make-plan.ts";

const list = (...values: number[]) => ({ kind: "list", values }) as const;
const hold = (...levels: number[]): LoadPlan => ({ kind: "concurrency", levels: list(...levels), search: "linear" });
const rate = (...levels: number[]): LoadPlan => ({
  ...{ kind: "request-rate", levels: list(...levels), search: "linear", distribution: "constant", seed: 0 },
});
const phases = (...loads: PhasesLoadPlan["phases"]): PhasesLoadPlan => ({ kind: "phases", phases: loads });

describe("a load with phases", () => {
  const mixed = phases({ load: hold(4), isWarmup: true }, { load: rate(100, 300), name: "busy" }, { load: hold(2, 9) });

  test("is described by its phases", () => {
    assert.equal(loadModeOf(mixed).describe(mixed), "3 phases: warm-up, busy, concurrency 2, 9");
    assert.equal(loadModeOf(phases({ load: hold(1) })).describe(phases({ load: hold(1) })), "1 phase: concurrency 1");
    assert.equal(describeLevel(makePlan({ load: mixed }), 4, 0), "warm-up: concurrency 4");
    assert.equal(describeLevel(makePlan({ load: mixed }), 300, 1), "busy: 300 requests/s");
    assert.equal(describeLevel(makePlan({ load: mixed }), 9, 2), "concurrency 9");
  });

  test("has lanes and connections for the largest of all phases", () => {
    assert.deepEqual(prepareLoad(mixed).search, {
      ...{ unit: "request-rate", levels: list(300), search: "linear", maxConcurrency: 9 },
    });
    assert.deepEqual(prepareLoad(phases({ load: hold(4) }, { load: hold(2, 64) })).search, {
      ...{ unit: "concurrency", levels: list(64), search: "linear" },
    });
    const toZero = { ...rate(0), ramp: { fromPerSec: 5, overMs: 1000 } };
    assert.deepEqual(prepareLoad(phases({ load: hold(400) }, { load: toZero })).search, {
      ...{ unit: "request-rate", levels: list(0), search: "linear", maxConcurrency: 400 },
    });
  });

  test("has a schedule when one of its phases has one, and latencies of it when that one is measured", () => {
    const onlyWarm = phases({ load: rate(5), isWarmup: true }, { load: hold(1) });
    assert.deepEqual([levelUnitOf(mixed), hasMeasuredSchedule(mixed)], ["request-rate", true]);
    assert.deepEqual([levelUnitOf(onlyWarm), hasMeasuredSchedule(onlyWarm)], ["request-rate", false]);
    assert.deepEqual([levelUnitOf(phases({ load: hold(1) })), hasMeasuredSchedule(hold(1))], ["concurrency", false]);
  });

  test("applies to each phase as its load alone", () => {
    const mode = { kind: "duration", durationMs: 5 } as const;
    const plan = makePlan({ load: phases({ load: hold(1) }, { load: rate(2), mode }) });
    assert.deepEqual([planOfPhase(plan, 1).load, planOfPhase(plan, 1).measurement.mode], [rate(2), mode]);
    assert.deepEqual(planOfPhase(plan, 0).measurement, plan.measurement);
    assert.equal(planOfPhase(plan, undefined), plan);
  });
});

describe("a constant rate after another load", () => {
  const dueMs = (phase: Omit<PhasesLoadPlan["phases"][number], "load">, perSec: number): number[] => {
    const load = prepareLoad(phases({ load: hold(4) }, { load: rate(perSec), ...phase })).phases?.[1]?.load;
    const drive = load?.drive(perSec, []);
    assert.ok(drive?.kind === "scheduled");
    return Array.from({ length: 2 * perSec }, () => drive.arrivals() / 1e6);
  };

  test("has as many requests as its time has gaps, also when the time ends 10 ms early or late", () => {
    const times = dueMs({ mode: { kind: "duration", durationMs: 1000 } }, 30);
    for (const endMs of [990, 1000, 1010]) assert.equal(times.filter((ms) => ms <= endMs).length, 30, `${endMs} ms`);
  });

  test("takes as many gaps as it has requests, when their number is given", () => {
    const times = dueMs({ mode: { kind: "requests", count: 30 } }, 30);
    assert.ok(Math.abs((times[29] ?? 0) - 1000) < 1e-6, `${times[29]}`);
  });
});

test("loads that end by themselves, or follow the data, cannot be a phase", () => {
  const kinds = Object.entries(LOAD_MODES).flatMap(([kind, mode]) => (canBePhase(mode as never) ? [kind] : []));
  assert.deepEqual(kinds, ["concurrency", "concurrency-ramp", "request-rate", "intervals"]);
});

describe("a plan is checked", () => {
  const mode = { kind: "time-windows", windowMs: 100, stabilityPct: 10, maxTrials: 10 } as const;
  const planOf = (load: object): Plan => makePlan({ load: load as LoadPlan, measurement: { mode } });
  const pathsOf = (load: object): string[] => {
    try {
      checkPlan(planOf(load));
    } catch (error) {
      if (error instanceof UserError) return error.problems.map(({ path }) => word(path));
      throw error;
    }
    return [];
  };

  test("with all mistakes by their paths", () => {
    const bad = phases(
      { load: hold(0) },
      { load: hold(1), mode: { kind: "duration", durationMs: -1 } },
      { load: { kind: "session-concurrency", concurrency: 1 } },
    );
    assert.deepEqual(pathsOf(bad), [
      "load.phases.0.load.levels.values.0",
      "load.phases.1.mode.durationMs",
      "load.phases.2.load.kind",
    ]);
    assert.deepEqual(pathsOf(phases()), ["load.phases"]);
  });

  test("and a sound one passes", () => {
    const drift = { maxRatio: 0.1 };
    const recovery = { baseIndex: 0, withinRatio: 0.2, limitMs: 5 };
    assert.deepEqual(pathsOf(phases({ load: hold(1), drift }, { load: rate(1), recovery, name: "x" })), []);
  });
});
