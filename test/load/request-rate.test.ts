import assert from "node:assert/strict";
import { test } from "node:test";
import { gammaArrivals, rampArrivals } from "../../src/load/arrivals.ts";
import { requestRateMode } from "../../src/load/request-rate.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";
import { testSchema } from "../plan/test-schema.ts";

test("a request rate creates new arrivals for each level", () => {
  for (const distribution of ["constant", "poisson"] as const) {
    const load = prepareLoad({
      kind: "request-rate",
      levels: { kind: "list", values: [10] },
      search: "linear",
      distribution,
      seed: 3,
    });
    assert.equal(load.search.unit, "request-rate");
    const times = [0, 1].map(() => {
      const drive = load.drive(10, []);
      assert.equal(drive.kind, "scheduled");
      return Array.from({ length: 5 }, (drive as Extract<typeof drive, { kind: "scheduled" }>).arrivals);
    });
    assert.deepEqual(times[0], times[1]);
  }
});

test("a request rate hands on its limit of requests outstanding, its gaps and its ramp", () => {
  const load = prepareLoad({
    kind: "request-rate",
    levels: { kind: "list", values: [10] },
    search: "linear",
    distribution: "gamma",
    seed: 3,
    smoothness: 0.25,
    maxOutstanding: 5,
    ramp: { fromPerSec: 0, overMs: 1000 },
  });
  const drive = load.drive(10, []);
  assert.ok(drive.kind === "scheduled");
  assert.equal(drive.maxOutstanding, 5);
  const expected = rampArrivals((perSec) => gammaArrivals(perSec, 0.25, 3), 10, { fromPerSec: 0, overMs: 1000 });
  assert.deepEqual(Array.from({ length: 20 }, drive.arrivals), Array.from({ length: 20 }, expected));
});

/** Rates from and to, and how long the change takes. */
const RAMPS: readonly (readonly [fromPerSec: number, toPerSec: number, overMs: number])[] = [
  [0, 60, 2000],
  [20, 100, 1000],
  [100, 20, 1000],
  [60, 0, 2000],
];
for (const [fromPerSec, toPerSec, overMs] of RAMPS)
  test(`a ramp from ${fromPerSec} to ${toPerSec} per second has all its requests, wherever its end falls within a gap`, () => {
    const load = prepareLoad({
      ...{ kind: "request-rate", levels: { kind: "list", values: [toPerSec] }, search: "linear" },
      ...{ distribution: "constant", seed: 0, ramp: { fromPerSec, overMs } },
    });
    const drive = load.drive(toPerSec, []);
    assert.ok(drive.kind === "scheduled");
    const count = (((fromPerSec + toPerSec) / 2) * overMs) / 1000;
    const times = Array.from({ length: count + 1 }, drive.arrivals);
    const [last = 0, next = 0] = times.slice(-2);
    assert.ok(last < (overMs - 2) * 1e6 && next > (overMs + 2) * 1e6, `${last}, ${next}`);
  });

for (const [fromPerSec, toPerSec, overMs] of RAMPS)
  for (const count of [1, 2, 7, 59])
    test(`a ramp from ${fromPerSec} to ${toPerSec} per second that ends with request ${count} has as many as the area below its rate`, () => {
      const plan = {
        ...({ kind: "request-rate", levels: { kind: "list", values: [toPerSec] }, search: "linear" } as const),
        ...({ distribution: "constant", seed: 0, ramp: { fromPerSec, overMs } } as const),
      };
      const drive = prepareLoad(plan, { kind: "requests", count }).drive(toPerSec, []);
      assert.ok(drive.kind === "scheduled");
      const lastNs = Array.from({ length: count }, drive.arrivals).at(-1) ?? Number.NaN;
      const [sec, overSec] = [lastNs / 1e9, overMs / 1e3];
      const inRamp = Math.min(sec, overSec);
      const reached = fromPerSec + ((toPerSec - fromPerSec) * inRamp) / overSec;
      const area = ((fromPerSec + reached) / 2) * inRamp + toPerSec * (sec - inRamp);
      assert.ok(Math.abs(area - count) < 1e-6, `${area} requests`);
      const asked = requestRateMode.askedMean?.(plan, toPerSec, lastNs) ?? Number.NaN;
      assert.ok(Math.abs(asked * sec - count) < 1e-6, `${asked * sec} requests asked for`);
    });

const VALID = {
  kind: "request-rate",
  levels: { kind: "list", values: [0.5] },
  search: "linear",
  distribution: "poisson",
  seed: 1,
};
testSchema(requestRateMode.schema(), VALID, [
  ["a rate below 1", true, {}],
  ["rate 0", false, { levels: { kind: "list", values: [0] } }],
  ["a ramp to 0", true, { levels: { kind: "list", values: [0] }, ramp: { fromPerSec: 5, overMs: 1 } }],
  ["a ramp from 0 to 0", false, { levels: { kind: "list", values: [0] }, ramp: { fromPerSec: 0, overMs: 1 } }],
  ["an unknown distribution", false, { distribution: "normal" }],
  ["half a seed", false, { seed: 0.5 }],
  ["a smoothness", true, { distribution: "gamma", smoothness: 0.5 }],
  ["smoothness 0", false, { smoothness: 0 }],
  ["one outstanding", true, { maxOutstanding: 1 }],
  ["none outstanding", false, { maxOutstanding: 0 }],
  ["a ramp from 0", true, { ramp: { fromPerSec: 0, overMs: 1 } }],
  ["a ramp from below 0", false, { ramp: { fromPerSec: -1, overMs: 1 } }],
  ["a ramp in no time", false, { ramp: { fromPerSec: 0, overMs: 0 } }],
]);
