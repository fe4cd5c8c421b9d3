import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import * as v from "valibot";
import type { DataStep, Dataset } from "../../src/inputs/dataset.ts";
import { fixedScheduleMode } from "../../src/load/fixed-schedule.ts";
import { Pacer } from "../../src/load/pacer.ts";
import { describePart, isInPart, takePart } from "../../src/load/schedule-part.ts";
import type { SchedulePartPlan } from "../../src/plan/load-options.ts";
import { UserError } from "../../src/plan/problem.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";

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

test("each step of the data is due at its own time, at one level", () => {
  const load = prepareLoad({ kind: "fixed-schedule" });
  assert.deepEqual(load.search, { unit: "request-rate", levels: { kind: "list", values: [1] }, search: "linear" });
  const drive = load.drive(1, [0, 5, 5, 20]);
  assert.ok(drive.kind === "scheduled");
  assert.deepEqual(Array.from({ length: 4 }, drive.arrivals), [0, 5e6, 5e6, 20e6]);
});

const SCHEMAS: readonly (readonly [name: string, isAccepted: boolean, part: object | undefined])[] = [
  ["a whole schedule", true, undefined],
  ["a moment of it", true, {}],
  ["a part without bounds", true, { startMs: null, endMs: null }],
  ["a part that ends before it starts", false, { endMs: 0.5 }],
  ["a part from before 0", false, { startMs: -1 }],
  ["speed 0", false, { speedRatio: 0 }],
];
for (const [name, isAccepted, change] of SCHEMAS)
  test(`the schema ${isAccepted ? "accepts" : "refuses"} ${name}`, () => {
    const part = change && { startMs: 1, endMs: 1, startsAtFirst: false, speedRatio: 1, ...change };
    const plan = { kind: "fixed-schedule", ...(part === undefined ? {} : { part }) };
    assert.equal(v.is(fixedScheduleMode.schema(), plan), isAccepted);
  });

test("arrival i belongs to lane i modulo the number of lanes, in any order of calls", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.nat({ max: 7 }), { maxLength: 100 }),
      (laneCount, asked) => {
        let count = 0;
        const pacer = new Pacer(() => count++, laneCount);
        const turns = new Array<number>(laneCount).fill(0);
        for (const ask of asked) {
          const lane = ask % laneCount;
          assert.equal(pacer.nextDueNs(lane), lane + (turns[lane] as number) * laneCount);
          turns[lane] = (turns[lane] as number) + 1;
        }
      },
    ),
  );
});
