import assert from "node:assert/strict";
import { test } from "node:test";
import {
  averageUs,
  flattenComposing,
  joinDeltas,
  type ServerDelta,
  subtractCounters,
} from "../../src/measure/server-delta.ts";
import type { ServerCounters } from "../../src/service/server-counters.ts";
import { makeDelta } from "./make-window.ts";

function counters(version: string, count: number, change: Partial<ServerCounters> = {}): ServerCounters {
  return { ...makeDelta(count), name: "simple", version, ...change };
}

const simple = { name: "simple", version: "", composing: [] };

test("the change of counters is a difference, field by field", () => {
  const result = subtractCounters([counters("1", 10)], [counters("1", 25)], simple);
  assert.deepEqual(result, makeDelta(15));
});

test("without a version asked for the highest one that moved counts", () => {
  const before = ["1", "9", "10"].map((version) => counters(version, 5));
  const after = [counters("1", 8), counters("9", 7), counters("10", 6)];
  const result = subtractCounters(before, after, simple);
  assert.deepEqual([result?.version, result?.successCount, result?.hasManyVersions], ["10", 1, true]);
  const one = subtractCounters(before, [counters("1", 8), ...before.slice(1)], simple);
  assert.deepEqual([one?.version, one?.hasManyVersions], ["1", false]);
});

test("a version asked for counts alone, moved or not; other models never", () => {
  const before = [counters("1", 5), counters("2", 5)];
  const after = [counters("1", 5), counters("2", 9), counters("1", 50, { name: "other" })];
  assert.equal(subtractCounters(before, after, { ...simple, version: "1" })?.successCount, 0);
  assert.equal(subtractCounters(before, before, simple), undefined);
  assert.equal(subtractCounters(before, after, { ...simple, name: "absent" }), undefined);
});

test("a version that was loaded meanwhile counts from 0; counters that fell are ignored", () => {
  const loaded = subtractCounters([counters("1", 5)], [counters("1", 5), counters("2", 3)], simple);
  assert.deepEqual([loaded?.version, loaded?.successCount, loaded?.hasManyVersions], ["2", 3, false]);
  const asked = { ...simple, version: "1" };
  assert.equal(subtractCounters([counters("1", 50)], [counters("1", 4)], asked), undefined);
  assert.equal(subtractCounters([counters("1", 50)], [counters("1", 4)], simple), undefined);
});

test("a server that restarted has no times, even if it has counted more requests since than before", () => {
  // 10 slow requests, then a restart and 30 fast ones.
  const before = [counters("1", 10, { successNs: 9e9, queueNs: 5e9, computeInferNs: 4e9 })];
  const after = [counters("1", 30, { successNs: 3e9, queueNs: 1e9, computeInferNs: 2e9 })];
  assert.equal(subtractCounters(before, after, simple), undefined);
  assert.equal(subtractCounters([counters("1", 10, { cacheHitCount: 8 })], [counters("1", 30)], simple), undefined);
  const caller = { ...simple, composing: [{ name: "called", version: "", composing: [] }] };
  const called = (of: readonly ServerCounters[]): ServerCounters[] => of.map((one) => ({ ...one, name: "called" }));
  const delta = subtractCounters([counters("1", 1), ...called(before)], [counters("1", 5), ...called(after)], caller);
  assert.deepEqual([delta?.successCount, delta?.composing], [4, []]);
});

test("a version loaded meanwhile counts from zero", () => {
  assert.deepEqual(subtractCounters([], [counters("3", 4)], simple), makeDelta(4, { version: "3" }));
});

test("called models are reported with their caller, sorted, each version once", () => {
  const ids = (delta: ServerDelta | undefined): string[] =>
    (delta?.composing ?? []).map(({ name, version, successCount }) => `${name}:${version} ${successCount}`);
  const leaf = { name: "leaf", version: "1", composing: [] };
  const model = {
    ...simple,
    composing: [
      { name: "two", version: "", composing: [] },
      { name: "two", version: "1", composing: [] },
      { name: "away", version: "", composing: [] },
      { name: "idle", version: "", composing: [leaf] },
      { name: "nested", version: "", composing: [leaf, { ...leaf, version: "" }] },
    ],
  };
  const others = (count: number): ServerCounters[] => [
    counters("1", count, { name: "leaf" }),
    counters("1", count, { name: "nested" }),
    counters("2", 7, { name: "idle" }),
    counters("10", 7, { name: "idle" }),
    counters("1", count, { name: "two" }),
    counters("3", 2 * count, { name: "two" }),
  ];
  const delta = subtractCounters([counters("1", 1), ...others(1)], [counters("1", 5), ...others(5)], model);
  assert.deepEqual(ids(delta), ["away: 0", "idle:10 0", "nested:1 4", "two:1 4", "two:3 8"]);
  assert.deepEqual(ids(delta?.composing[2]), ["leaf:1 4"]);
  // What was asked for by version and moved is no doubt; two versions that moved by themselves are.
  assert.deepEqual(
    delta?.composing.map(({ hasManyVersions }) => hasManyVersions),
    new Array(5).fill(false),
  );
  const alone = { ...simple, composing: [{ name: "two", version: "", composing: [] }] };
  const many = subtractCounters([counters("1", 1), ...others(1)], [counters("1", 5), ...others(5)], alone);
  assert.deepEqual([ids(many), many?.composing[0]?.hasManyVersions], [["two:3 8"], true]);
  const sum = joinDeltas([delta, many], "in-time");
  assert.deepEqual(ids(sum), ["away: 0", "idle:10 0", "nested:1 4", "two:1 4", "two:3 16"]);
  assert.deepEqual(ids(sum?.composing[2]), ["leaf:1 4"]);
});

test("changes of several windows add up, unless one is unknown", () => {
  assert.deepEqual(joinDeltas([makeDelta(1), makeDelta(2), makeDelta(3)], "in-time"), makeDelta(6));
  assert.equal(joinDeltas([makeDelta(1), undefined], "in-time"), undefined);
  assert.equal(joinDeltas([], "in-time"), undefined);
});

test("what several clients saw of one server counts once, also when some did not read it", () => {
  const seen = [4, 9, 7].map((count) => makeDelta(count, { composing: [makeDelta(count, { name: "called" })] }));
  assert.deepEqual(joinDeltas([seen[0], undefined, seen[1], seen[2]], "parallel"), seen[1]);
  assert.equal(joinDeltas([undefined, undefined], "parallel"), undefined);
});

test("means are whole microseconds, rounded down; none without occurrences", () => {
  assert.deepEqual([averageUs(3_999_000, 2), averageUs(999, 1), averageUs(5, 0)], [1999, 0, 0]);
});

test("all models below another come once each, from the top down", () => {
  const leaf = makeDelta(1, { name: "leaf" });
  const twig = makeDelta(2, { name: "twig", composing: [leaf] });
  const branch = makeDelta(3, { name: "branch", composing: [leaf, twig] });
  assert.deepEqual(
    flattenComposing(makeDelta(4, { composing: [branch, twig] })).map(({ name }) => name),
    ["branch", "twig", "leaf"],
  );
});
