import assert from "node:assert/strict";
import { test } from "node:test";
import { addReading, type GaugeReadings, NO_READINGS } from "../../../src/measure/gauge-readings.ts";
import { estimateMetric, explainMissing } from "../../../src/measure/metrics/read-metric.ts";
import { makeWindow } from "../make-window.ts";

/** The energy of GPUs of known power, whose counter the server updates from time to time. */

interface Case {
  readonly windowMs: number;
  /** Between two readings. */
  readonly readMs: number;
  /** Between two updates of the counter. */
  readonly updateMs: number;
  readonly isStated: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  "many readings of a counter that is always right": { windowMs: 10_000, readMs: 1000, updateMs: 1, isStated: true },
  "a counter that changes every two seconds": { windowMs: 20_000, readMs: 1000, updateMs: 2000, isStated: true },
  "two readings": { windowMs: 1900, readMs: 1000, updateMs: 1, isStated: false },
  "a counter that changed once": { windowMs: 2900, readMs: 300, updateMs: 3000, isStated: false },
  "one reading": { windowMs: 900, readMs: 1000, updateMs: 1, isStated: false },
};

const WATTS = 250;
const START_MS = 77_777;

/** @param phaseMs from the start until the first reading @param updatePhaseMs from a reading to an update */
function readEnergy({ windowMs, readMs, updateMs }: Case, phaseMs: number, updatePhaseMs: number): GaugeReadings {
  let gauges = NO_READINGS;
  for (let ms = phaseMs; ms <= windowMs; ms += readMs) {
    const updatedMs = Math.floor((START_MS + ms - updatePhaseMs) / updateMs) * updateMs + updatePhaseMs;
    gauges = addReading(
      gauges,
      { gpuEnergyJoules: new Map([["a", (WATTS * updatedMs) / 1e3]]) },
      (START_MS + ms) * 1e6,
    );
  }
  return gauges;
}

for (const [name, one] of Object.entries(CASES))
  test(`${name}: ${one.isStated ? "the true energy is within the ends" : "no energy, and why"}`, () => {
    const truth = (WATTS * one.windowMs) / 1e3;
    for (let step = 0; step < 10; step++)
      for (let updateStep = 0; updateStep < 10; updateStep++) {
        const phaseMs = (one.readMs * step) / 10;
        const gauges = readEnergy(one, phaseMs, (one.updateMs * updateStep) / 10);
        const part = { window: { ...makeWindow({ latenciesNs: [1e6] }), durationNs: one.windowMs * 1e6, gauges } };
        const found = estimateMetric({ key: "gpuEnergy" }, part, 1);
        if (one.isStated) {
          const [low, high] = [found?.low ?? Number.NaN, found?.high ?? Number.NaN];
          assert.ok(low <= truth && truth <= high && high - low < truth, `${low} to ${high}, ${truth}`);
        } else {
          assert.equal(found, undefined);
          assert.match(explainMissing({ key: "gpuEnergy" }, part, 1) ?? "not", /read|grow \d times?, which is too few/);
        }
      }
  });
