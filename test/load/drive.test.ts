import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canLanesWait, type Drive, isScheduled, limitConcurrency, maxInFlightOf } from "../../src/load/drive.ts";

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
