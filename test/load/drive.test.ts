import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { drawLoad, drawPart } from "../../src/load/draw-load.ts";
import { canLanesWait, type Drive, isScheduled, limitConcurrency, maxInFlightOf } from "../../src/load/drive.ts";
import type { RequestRateLoadPlan } from "../../src/load/request-rate.ts";

const DRIVES: readonly [drive: Drive, maxInFlight: number | undefined, limitedToThree: number | undefined][] = [
  [{ kind: "closed", concurrency: 4 }, 4, 3],
  [{ kind: "ramp", maxConcurrency: 5, concurrencyAt: () => 1 }, 5, 5],
  [{ kind: "scheduled", arrivals: () => 0, maxOutstanding: 2 }, undefined, undefined],
  [{ kind: "periodic", start: 1, end: 9, step: 4, periodResponses: 3 }, 9, 9],
  [{ kind: "sessions", concurrency: 6 }, 6, 6],
];

describe("a drive", () => {
  for (const [drive, maxInFlight, limited] of DRIVES)
    test(drive.kind, () => {
      assert.equal(maxInFlightOf(drive), maxInFlight);
      assert.equal(maxInFlightOf(limitConcurrency(drive, 3)), limited);
      assert.deepEqual(limitConcurrency(drive, 9), drive);
      assert.equal(isScheduled(drive), drive.kind === "scheduled");
      assert.equal(canLanesWait(drive), drive.kind !== "closed");
    });
});

const RATE: RequestRateLoadPlan = {
  kind: "request-rate",
  levels: { kind: "list", values: [10] },
  search: "linear",
  distribution: "poisson",
  seed: 7,
};

test("draw 0 is a load's own, and each other one has a seed of its own, in phases too", () => {
  assert.equal(drawLoad(RATE, 0).seed, 7);
  const seeds = [0, 1, 2, 3].map((number) => drawLoad(RATE, number).seed);
  assert.equal(new Set(seeds).size, 4);
  const { phases } = drawLoad({ kind: "phases", phases: [{ load: RATE }, { name: "b", load: RATE }] }, 2);
  assert.deepEqual(
    phases.map(({ load }) => load),
    [2, 2].map((number) => drawLoad(RATE, number)),
  );
});

test("what has no seed, or does not use it, is not drawn", () => {
  const constant = { ...RATE, distribution: "constant" } as const;
  assert.equal(drawLoad(constant, 3), constant);
  const part = { extra: { seed: 5 } };
  assert.equal(drawPart(part, 3), part);
});
