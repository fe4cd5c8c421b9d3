import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Measurement } from "../../src/measure/measurement.ts";
import { mergeInTime } from "../../src/measure/merge.ts";
import { selectTags, splitByAllTags, splitByTag, type TaggedPart, tagNamesOf } from "../../src/measure/split-by-tag.ts";
import type { TokenMeasurement } from "../../src/measure/tokens/token-measurement.ts";
import { TokenTally } from "../../src/measure/tokens/token-tally.ts";
import { makeDelta, makeWindow } from "./make-window.ts";

/** Three groups: a long, a short, and b without a length. */
function makeWhole(scale = 1): Measurement {
  const groups = [
    {
      tags: { target: "a", length: "long" },
      window: makeWindow({
        ...{ latenciesNs: [5e6 * scale, 6e6], failedCount: 1, sentCount: 4, openAfterCount: 1, tokens: tokensOf(2) },
      }),
    },
    {
      tags: { target: "a", length: "short" },
      window: makeWindow({ latenciesNs: [1e6], sentCount: 1, tokens: tokensOf(1) }),
    },
    {
      tags: { target: "b" },
      window: makeWindow({ latenciesNs: [2e6, 3e6, 4e6 * scale], openBeforeCount: 1, sentCount: 2 }),
    },
  ];
  const whole = makeWindow({
    latenciesNs: [5e6 * scale, 6e6, 1e6, 2e6, 3e6, 4e6 * scale],
    failedCount: 1,
    sentCount: 7,
    openBeforeCount: 1,
    openAfterCount: 1,
  });
  return { ...whole, groups, memberServers: { a: makeDelta(3) } };
}

function tokensOf(count: number): TokenMeasurement {
  const tally = new TokenTally();
  for (let row = 0; row < count; row++) tally.addPlain(row, 1000);
  return tally.cut();
}

const countsOf = ({
  window: { requestCount, failedCount, sentCount, openBeforeCount, openAfterCount },
}: Pick<TaggedPart, "window">) => [requestCount, failedCount, sentCount, openBeforeCount, openAfterCount];

describe("the values of a tag", () => {
  test("have the requests, latencies and tokens of their groups", () => {
    const whole = makeWhole();
    assert.deepEqual(tagNamesOf(whole), ["target", "length"]);
    const [a, b] = splitByTag(whole, "target");
    assert.ok(a !== undefined && b !== undefined);
    assert.deepEqual([a.tags, countsOf(a), a.window.tokens?.count], [{ target: "a" }, [3, 1, 5, 0, 1], 3]);
    assert.deepEqual([b.tags, countsOf(b), b.window.tokens], [{ target: "b" }, [3, 0, 2, 1, 0], undefined]);
    const { latency, durationNs, sendingNs } = a.window;
    assert.deepEqual([latency.max, durationNs, sendingNs], [6e6, 1e9, 1e9]);
    assert.deepEqual([a.window.server?.successCount, b.window.server], [3, undefined]);
  });

  test("include those without the tag, so that they are the level together", () => {
    const whole = makeWhole();
    for (const name of tagNamesOf(whole)) {
      const parts = splitByTag(whole, name).map(countsOf);
      const sum = parts.reduce((total, part) => total.map((value, at) => value + (part[at] as number)));
      assert.deepEqual(sum, countsOf({ window: whole }), name);
    }
    assert.deepEqual(
      splitByTag(whole, "length").map(({ tags, window }) => [tags, window.server]),
      [
        [{ length: "long" }, undefined],
        [{ length: "short" }, undefined],
        [{ length: undefined }, undefined],
      ],
    );
  });
});

test("combinations of tags are listed when there are several tags", () => {
  const whole = makeWhole();
  assert.deepEqual(
    splitByAllTags(whole).map(({ tags }) => tags),
    [{ target: "a", length: "long" }, { target: "a", length: "short" }, { target: "b" }],
  );
  const [first] = whole.groups ?? [];
  assert.ok(first !== undefined);
  assert.deepEqual(splitByAllTags({ ...whole, groups: [{ ...first, tags: { x: "1" } }] }), []);
});

test("tags select the groups that have all of them", () => {
  const whole = makeWhole();
  const counts = [
    {},
    { length: "long" },
    { length: "long", target: "a" },
    { length: "long", target: "b" },
    { x: "1" },
  ].map((tags) => {
    const part = selectTags(whole, tags);
    return part && countsOf(part)[0];
  });
  assert.deepEqual(counts, [6, 2, 2, undefined, undefined]);
  assert.equal(selectTags(makeWindow(), {}), undefined, "a level without groups");
});

test("merged windows have merged groups and servers", () => {
  const merged = mergeInTime([makeWhole(), makeWhole(2)]);
  assert.deepEqual(
    merged.groups?.map(({ window }) => [window.requestCount, window.failedCount, window.durationNs]),
    [
      [4, 2, 2e9],
      [2, 0, 2e9],
      [6, 0, 2e9],
    ],
  );
  assert.deepEqual([merged.memberServers?.["a"]?.successCount, merged.memberServers?.["b"]], [6, undefined]);
});
