import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordColumns } from "../../../src/measure/records.ts";
import { WindowTally } from "../../../src/measure/tally/window-tally.ts";
import type { LevelTokens } from "../../../src/measure/tokens/run-tokens.ts";
import { TokenTally } from "../../../src/measure/tokens/token-tally.ts";
import { joinSlices, RecentTime, type Slice } from "../../../src/run/conduct/recent-time.ts";
import { fill } from "../../measure/make-records.ts";

const newTally = (): WindowTally => new WindowTally({ isScheduled: false, countsReading: true, isDecoupled: false });
const GROUPS = {
  list: [
    { tags: { size: "a" }, member: 0 },
    { tags: { size: "b" }, member: 0 },
  ],
};

const ALL = { all: newTally, groups: () => [] };
const APART = { all: newTally, groups: () => [newTally(), newTally()] };

function follow(recent: RecentTime): (endNs: number, group: number) => void {
  const records = new RecordColumns((columns, count) => recent.add(columns, count));
  return (endNs, group) => {
    records.group[records.row] = group;
    fill(records, { sendStartNs: 0, endNs });
    records.drain();
  };
}

function countOf(slices: readonly Slice[] | undefined): number | undefined {
  return slices?.reduce((sum, { window }) => sum + window.requestCount, 0);
}

test("the last part of the time is known when that much is measured, and earlier slices are dropped", () => {
  const recent = new RecentTime({ spanNs: 100 });
  const add = follow(recent);
  recent.resume(ALL, 0);
  const counts: (number | undefined)[] = [];
  for (let atNs = 50; atNs <= 250; atNs += 50) {
    for (let count = 0; count < atNs / 50; count++) add(atNs, 0);
    counts.push(countOf(recent.cut(atNs)));
  }
  assert.deepEqual(counts, [undefined, 1 + 2, 2 + 3, 3 + 4, 4 + 5]);
});

test("the time between two levels does not count", () => {
  const recent = new RecentTime({ spanNs: 100 });
  const add = follow(recent);
  recent.resume(ALL, 0);
  recent.pause(60);
  add(70, 0);
  assert.equal(recent.cut(1000), undefined, "nothing is measured");
  recent.resume(ALL, 2000);
  assert.equal(recent.cut(2030), undefined, "90 ns of 100");
  assert.equal(countOf(recent.cut(2040)), 0);
});

test("groups are measured apart", async () => {
  const recent = new RecentTime({ spanNs: 10, groups: GROUPS });
  const add = follow(recent);
  recent.resume(APART, 0);
  add(5, 0);
  add(6, 1);
  add(7, 1);
  const window = await joinSlices(recent.cut(10) ?? []);
  assert.equal(window.requestCount, 3);
  assert.deepEqual(
    window.groups?.map((group) => [group.tags, group.window.requestCount, group.window.durationNs]),
    [
      [{ size: "a" }, 1, 10],
      [{ size: "b" }, 2, 10],
    ],
  );
});

test("tokens are those of the slices, without what was measured before a level", async () => {
  const taken: LevelTokens[] = [1, 2, 3].map((latencyNs) => {
    const tally = new TokenTally();
    tally.addPlain(0, latencyNs);
    const tokens = tally.cut();
    return { tokens, groupTokens: [tokens, undefined] };
  });
  const waiting = [...taken];
  const recent = new RecentTime({ spanNs: 20, groups: GROUPS, takeTokens: async () => waiting.shift() as LevelTokens });
  recent.resume(APART, 0);
  assert.equal(recent.cut(10), undefined);
  const joined = await joinSlices(recent.cut(20) ?? []);
  assert.deepEqual(joined.tokens?.metrics.requestLatencyNs?.values, [2, 3]);
  assert.deepEqual(
    joined.groups?.map(({ window }) => window.tokens?.metrics.requestLatencyNs?.values),
    [[2, 3], undefined],
  );
  assert.equal(taken[1]?.tokens.count, 1, "slices are not changed, because the next moment needs them too");
});
