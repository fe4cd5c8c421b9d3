import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { DataStep, Dataset } from "../../src/inputs/dataset.ts";
import { describePart, isInPart, takePart } from "../../src/load/schedule-part.ts";
import type { SchedulePartPlan } from "../../src/plan/load-options.ts";
import { UserError } from "../../src/plan/problem.ts";

/** Which entries of a schedule are sent, and when. */

const WHOLE: SchedulePartPlan = { startMs: null, endMs: null, startsAtFirst: false, speedRatio: 1 };

function dataOf(...timesMs: number[]): Dataset {
  const steps = timesMs.map((timestampMs): DataStep => ({ inputs: new Map(), expected: new Map(), timestampMs }));
  return { streams: [steps], isFromJson: true, warnings: ["earlier."] };
}

function timesOf({ streams }: Dataset): (number | undefined)[] {
  return (streams[0] ?? []).map(({ timestampMs }) => timestampMs);
}

const parts: readonly (readonly [name: string, part: Partial<SchedulePartPlan>, times: readonly number[]])[] = [
  ["all of it", {}, [100, 200, 300, 900]],
  ["from a time on, which becomes the beginning; it is included", { startMs: 200 }, [0, 100, 700]],
  ["up to a time, which is included", { endMs: 300 }, [100, 200, 300]],
  ["between two times", { startMs: 150, endMs: 300 }, [50, 150]],
  ["a single moment", { startMs: 900, endMs: 900 }, [0]],
  ["beginning with its first entry", { startsAtFirst: true }, [0, 100, 200, 800]],
  ["beginning with its first entry, up to a time of the data", { startsAtFirst: true, endMs: 300 }, [0, 100, 200]],
  ["twice as fast", { speedRatio: 2 }, [50, 100, 150, 450]],
  ["half as fast from a time on", { speedRatio: 0.5, startMs: 100 }, [0, 200, 400, 1600]],
];

for (const [name, part, times] of parts) {
  test(`a schedule, ${name}`, () => {
    const taken = takePart(dataOf(100, 200, 300, 900), { ...WHOLE, ...part });
    assert.deepEqual(timesOf(taken), times);
    assert.equal(taken.warnings.length, times.length === 4 ? 1 : 2);
  });
}

test("skipped entries are counted, besides earlier notes", () => {
  const { warnings } = takePart(dataOf(0, 1, 2, 3), { ...WHOLE, startMs: 1, endMs: 2 });
  assert.deepEqual(warnings, ["earlier.", "2 of 4 entries are not due from 1 ms to 2 ms, and are skipped."]);
});

test("a part without entries is rejected with the range that has some", () => {
  const take = (): unknown => takePart(dataOf(5, 70), { ...WHOLE, startMs: 71 });
  assert.throws(take, (error) => {
    assert.ok(error instanceof UserError);
    assert.match(error.message, /no entry of the data is due from 71 ms on: they are due from 5 ms to 70 ms/);
    return true;
  });
});

test("whatever the part, order, distances and counts are kept", () => {
  const times = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 30 });
  const bound = fc.option(fc.integer({ min: 0, max: 1000 }));
  const speed = fc.constantFrom(0.25, 1, 4);
  fc.assert(
    fc.property(times, bound, bound, fc.boolean(), speed, (unsorted, startMs, endMs, startsAtFirst, speedRatio) => {
      const sorted = unsorted.sort((a, b) => a - b);
      const part = { startMs, endMs, startsAtFirst, speedRatio };
      const within = sorted.filter((time) => isInPart(part, time));
      fc.pre(within.length > 0);
      const taken = timesOf(takePart(dataOf(...sorted), part)) as number[];
      assert.equal(taken.length, within.length);
      assert.ok(taken.every((time) => time >= 0));
      for (const [index, time] of taken.entries())
        assert.equal((time - (taken[0] as number)) * speedRatio, (within[index] as number) - (within[0] as number));
    }),
  );
});

test("a part in words", () => {
  assert.equal(describePart({ startMs: null, endMs: null }), "from 0 ms on");
  assert.equal(describePart({ startMs: 5, endMs: 7.5 }), "from 5 ms to 7.5 ms");
});
