import assert from "node:assert/strict";
import { test } from "node:test";
import { MixedFeed } from "../../../src/run/mix/mixed-feed.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { makeDataset, makeService } from "../send/fake-client.ts";

/** A mix of three and two inputs at 2:1, whose payloads are those of their members. */
function makeMix() {
  const members = [3, 2].map((stepCount, index) => ({
    feed: new RequestFeed(makeService(), makeDataset(stepCount), { usesIds: false, isInOrder: true }),
    weight: 2 - index,
    stepCount,
  }));
  const feed = new MixedFeed(members);
  const next = (lane: number) => {
    const { payload } = feed.next(lane, 0);
    return [feed.step, payload[0]];
  };
  return { feed, next };
}

test("each member sends its own inputs in their order, whichever lane sends, and steps are counted over all members", () => {
  const { next } = makeMix();
  const sent = [7, 0, 3, 3, 1, 0, 2].map(next);
  assert.deepEqual(sent, [
    [0, 0],
    [3, 0],
    [1, 1],
    [2, 2],
    [4, 1],
    [0, 0],
    [1, 1],
  ]);
});

test("a rewind starts over with the turns and with the inputs of each member", () => {
  const { feed, next } = makeMix();
  const first = [0, 0, 0, 0].map(next);
  feed.rewind();
  assert.deepEqual([0, 0, 0, 0].map(next), first);
});

test("the content of a step is that of its member", () => {
  const { feed } = makeMix();
  const contents = [0, 1, 2, 3, 4].map((step) => {
    const content = feed.contentOf(step);
    return ("bytes" in content ? content : content[0])?.bytes[0];
  });
  assert.deepEqual(contents, [0, 1, 2, 0, 1]);
  assert.deepEqual([feed.expectedOf(4), feed.hasExpectations], [[], false]);
});
