import assert from "node:assert/strict";
import { test } from "node:test";
import { Sequences } from "../../../src/load/sequences.ts";
import type { LevelsPlan } from "../../../src/plan/load-plan.ts";
import { laneOptionsOf, UNKNOWN_MODEL } from "../../../src/run/lanes.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makeDataset, makeService } from "./fake-client.ts";

/** What each lane sends next. */

function stepsOf(feed: RequestFeed, lanes: readonly number[]): number[] {
  return lanes.map((lane) => {
    feed.next(lane, 0);
    return feed.step;
  });
}

test("lanes go through the data in turn: lane L begins at L and advances by the number of lanes", () => {
  const feed = new RequestFeed(makeService(), makeDataset(5), { usesIds: false });
  feed.setActiveLanes(2);
  assert.deepEqual(stepsOf(feed, [0, 1, 0, 1, 0, 1]), [0, 1, 2, 3, 4, 0]);
});

test("after a rewind every lane begins with its first step, whatever the number of lanes was before", () => {
  const feed = new RequestFeed(makeService(), makeDataset(5), { usesIds: false });
  feed.setActiveLanes(1);
  assert.deepEqual(stepsOf(feed, [0, 0, 0]), [0, 1, 2]);
  feed.rewind();
  feed.setActiveLanes(2);
  assert.deepEqual(stepsOf(feed, [0, 1, 0]), [0, 1, 2]);
});

test("lanes that share the data take its next step in turn, whichever comes, until they go by themselves again", () => {
  const feed = new RequestFeed(makeService(), makeDataset(4), { usesIds: false });
  feed.shareSteps();
  assert.deepEqual(stepsOf(feed, [0, 0, 2, 1, 7, 0]), [0, 1, 2, 3, 0, 1]);
  feed.rewind();
  assert.deepEqual(stepsOf(feed, [3, 0]), [0, 1]);
  feed.setActiveLanes(2);
  feed.rewind();
  assert.deepEqual(stepsOf(feed, [0, 0, 1]), [0, 2, 1]);
});

test("data that is sent in order is taken step by step, by any lane and any number of them", () => {
  const feed = new RequestFeed(makeService(), makeDataset(6), { usesIds: false, isInOrder: true });
  feed.setActiveLanes(2);
  assert.deepEqual(stepsOf(feed, [0, 1, 1]), [0, 1, 2]);
  feed.setActiveLanes(3);
  assert.deepEqual(stepsOf(feed, [1, 1, 0, 2]), [3, 4, 5, 0]);
  feed.rewind();
  assert.deepEqual(stepsOf(feed, [2, 2]), [0, 1]);
});

test("a batch takes several steps at once", () => {
  const feed = new RequestFeed(makeService(2), makeDataset(5), { usesIds: false });
  feed.setActiveLanes(1);
  assert.deepEqual(stepsOf(feed, [0, 0, 0, 0]), [0, 2, 4, 1]);
  const request = feed.next(0, 0);
  assert.deepEqual([feed.step, ...request.payload], [3, 3, 4]);
});

test("generated data has one step for all", () => {
  const feed = new RequestFeed(makeService(), makeDataset(3, false), { usesIds: false });
  feed.setActiveLanes(4);
  assert.deepEqual(stepsOf(feed, [0, 1, 2, 3, 0]), [0, 0, 0, 0, 0]);
});

test("a step is encoded once and sent many times", () => {
  const feed = new RequestFeed(makeService(), makeDataset(2), { usesIds: false });
  const first = feed.next(0, 0);
  const second = feed.next(0, 0);
  assert.notEqual(first, second);
  assert.equal(feed.next(0, 0), first);
  assert.equal(feed.next(0, 0), second);
  assert.equal(feed.stamp, undefined);
});

test("ids count up per lane, and a longer id has an encoding of its own", () => {
  const feed = new RequestFeed(makeService(), makeDataset(1), { usesIds: true });
  const texts: string[] = [];
  const requests = Array.from({ length: 11 }, () => {
    const request = feed.next(0, 0);
    texts.push(new TextDecoder().decode(feed.stamp));
    return request;
  });
  assert.deepEqual(texts, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
  assert.equal(requests[9], requests[0]);
  assert.deepEqual([requests[9]?.stampPlace?.idDigits, requests[10]?.stampPlace?.idDigits], [1, 2]);
  feed.next(1, 0);
  assert.equal(new TextDecoder().decode(feed.stamp), String(1n << 48n));
});

const list: LevelsPlan = { kind: "list", values: [20] };
const lanes: readonly (readonly [
  name: string,
  callMode: "sync" | "async",
  maxLanes: number | null,
  unit: "concurrency" | "request-rate",
  count: number,
])[] = [
  ["asynchronous concurrency has a lane per request up to the largest level", "async", null, "concurrency", 20],
  ["asynchronous concurrency keeps to the most lanes allowed", "async", 3, "concurrency", 3],
  ["a schedule has 4 lanes", "sync", null, "request-rate", 4],
  ["a schedule keeps to the most lanes allowed", "async", 7, "request-rate", 7],
];

for (const [name, callMode, maxLanes, unit, count] of lanes) {
  test(name, () => {
    assert.equal(
      laneOptionsOf(
        makePlan({ client: { callMode, maxLanes } }),
        { unit, levels: list, search: "linear" },
        UNKNOWN_MODEL,
      ).laneCount,
      count,
    );
  });
}

test("synchronous concurrency shares no lane", () => {
  const plan = makePlan({ client: { callMode: "sync", maxLanes: 2 } });
  assert.ok(
    laneOptionsOf(plan, { unit: "concurrency", levels: list, search: "linear" }, UNKNOWN_MODEL).laneCount > 1e6,
  );
});

test("of a feed with less data, only the encoding of the first step is taken", () => {
  const sequences = (stepCount: number): Sequences =>
    new Sequences({
      plan: { length: 3, lengthVariationPct: 0, startId: 1, idCount: null },
      streamLengths: [stepCount],
      random: () => 0,
    });
  const [less, all] = [2, 3].map(
    (count) => new RequestFeed(makeService(2), makeDataset(count), { usesIds: false, sequences: sequences(count) }),
  ) as [RequestFeed, RequestFeed];
  const first = less.next(0, 0);
  less.next(0, 0);
  all.takeEncodings(less);
  assert.equal(all.next(0, 0), first);
  assert.deepEqual([...all.next(0, 0).payload], [1, 2], "not 1 and 0, where the smaller data wraps around");
});
