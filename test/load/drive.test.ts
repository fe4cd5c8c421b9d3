import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { constantArrivals, poissonArrivals, scheduledArrivals } from "../../src/load/arrivals.ts";
import { drawLoad, drawPart } from "../../src/load/draw-load.ts";
import {
  canLanesWait,
  type Drive,
  divideDrive,
  isScheduled,
  limitConcurrency,
  maxInFlightOf,
  shareOfDrive,
} from "../../src/load/drive.ts";
import type { RequestRateLoadPlan } from "../../src/load/request-rate.ts";
import { countOf } from "../../src/load/share.ts";
import { sum } from "../../src/plan/units.ts";
import { rateLoad } from "../plan/make-plan.ts";
import { sharesOf } from "./shares-of.ts";

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

/** What several senders own together is what one of them sends alone. */

const SENDERS = [1, 2, 3, 4, 5, 6, 7];

/** Returns the parts of a load, one for each sender. */
function divide(whole: () => Drive, count: number, sequenceCount?: number): Drive[] {
  return sharesOf(count).map((sender) => {
    const drive = whole();
    return divideDrive(drive, shareOfDrive(drive, sender, sequenceCount));
  });
}

for (const kind of ["closed", "sessions"] as const)
  test(`${kind}: the senders keep the concurrency together, also below their number`, () => {
    for (const count of SENDERS)
      for (const concurrency of [1, 2, 3, 16, 100]) {
        const parts = divide(() => ({ kind, concurrency }), count);
        const own = parts.map((part) => (part.kind === kind ? part.concurrency : Number.NaN));
        assert.equal(sum(own), concurrency, `${concurrency} among ${count}`);
      }
  });

test("a ramp has the same concurrency at every moment", () => {
  const concurrencyAt = (elapsedNs: number): number => 1 + Math.floor(elapsedNs / 1e9);
  for (const count of SENDERS)
    for (const second of [0, 1, 5, 9]) {
      const parts = divide(() => ({ kind: "ramp", maxConcurrency: 10, concurrencyAt }), count);
      const own = parts.map((part) => (part.kind === "ramp" ? part.concurrencyAt(second * 1e9) : Number.NaN));
      assert.equal(sum(own), 1 + second);
    }
});

for (const [name, create] of [
  ["constant", () => constantArrivals(100)],
  ["poisson", () => poissonArrivals(100, 7)],
  ["given times", () => scheduledArrivals(Array.from({ length: 300 }, (_, at) => at * at))],
] as const)
  test(`${name} arrivals of all senders are exactly those of one`, () => {
    const alone = create();
    const times = Array.from({ length: 210 }, alone);
    for (const count of SENDERS) {
      const parts = divide(() => ({ kind: "scheduled", arrivals: create() }), count);
      const all = parts.flatMap((part, index) => {
        assert.ok(part.kind === "scheduled");
        return Array.from({ length: countOf(210, { index, count }) }, part.arrivals);
      });
      assert.deepEqual(
        all.sort((a, b) => a - b),
        times,
      );
    }
  });

test("a limit of outstanding requests, and sequences, are divided; below the number of senders some own nothing", () => {
  for (const count of SENDERS) {
    const limited = divide(() => ({ kind: "scheduled", arrivals: constantArrivals(9), maxOutstanding: 3 }), count);
    const most = limited.map((part) => (part.kind === "scheduled" ? (part.maxOutstanding ?? 0) : 0));
    assert.equal(sum(most), 3);
    const sequences = divide(() => ({ kind: "scheduled", arrivals: constantArrivals(9) }), count, 2);
    const sends = sequences.map((part) => part.kind === "scheduled" && part.arrivals() < Number.POSITIVE_INFINITY);
    assert.equal(sends.filter(Boolean).length, Math.min(count, 2));
  }
});

for (const drive of [
  { kind: "groups", size: 8 },
  { kind: "periodic", start: 1, end: 9, step: 2, periodResponses: 3 },
] as const)
  test(`${drive.kind}: one sender sends all requests, because they wait for each other`, () => {
    for (const count of SENDERS) {
      const [first, ...others] = divide(() => drive, count);
      assert.deepEqual(first, drive);
      for (const other of others) assert.deepEqual(other, { kind: "closed", concurrency: 0 });
    }
  });

const RATE: RequestRateLoadPlan = rateLoad([10], "poisson", 7);

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
