import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  type Confirmation,
  createLadder,
  endsOf,
  isAnswered,
  LoadSearch,
  type LoadState,
  ladderOf,
  type SearchedLoads,
} from "../../src/load/search.ts";

/** The search for the highest load, where the answer is known: loads up to the knee keep the limits. */

interface Found {
  readonly search: LoadSearch;
  readonly tried: number[];
}

/** @param noisy loads whose measurements of these numbers, from 0, say the opposite of what is true */
function searchWith(search: LoadSearch, knee: number, noisy: Readonly<Record<number, readonly number[]>> = {}): Found {
  const tried: number[] = [];
  for (let load = search.next(); load !== undefined; load = search.next()) {
    const repeat = tried.filter((one) => one === load).length;
    assert.equal(search.timesTried(load), repeat);
    tried.push(load);
    search.add(load, load <= knee !== (noisy[load]?.includes(repeat) ?? false) ? "kept" : "broken");
  }
  return { search, tried };
}

function findUpTo(knee: number, loads: SearchedLoads, isWhole = true, confirmation: Confirmation = "none"): Found {
  return searchWith(new LoadSearch(createLadder(loads, isWhole), confirmation), knee);
}

const RANGE = { kind: "range", min: 1, max: 1024 } as const;

test("every knee of a range is found, only the ends are tried twice, and nothing is out of the range", () => {
  for (let knee = 1; knee <= 100; knee++) {
    const { search, tried } = findUpTo(knee, { ...RANGE, max: 100 }, true, "ends");
    const { highest = 0, broken } = search.ends;
    // From 50 on two neighbours are closer than measurements are exact.
    if (knee < 50) assert.deepEqual([highest, broken], [knee, knee + 1]);
    else assert.ok(highest <= knee && highest >= knee * 0.98, String(knee));
    const ends = broken === undefined ? [highest] : [highest, broken];
    assert.deepEqual(tried.slice(-ends.length), ends);
    const first = tried.slice(0, -ends.length);
    assert.equal(new Set(first).size, first.length);
    assert.ok(tried.every((load) => load >= 1 && load <= 100) && tried.length <= 16);
    // Without confirmation the same loads are tried, the ends once.
    const once = findUpTo(knee, { ...RANGE, max: 100 });
    assert.deepEqual([once.tried, once.search.ends], [first, search.ends]);
  }
});

test("loads double, and are bisected above the knee", () => {
  assert.deepEqual(findUpTo(11, RANGE).tried, [1, 2, 4, 8, 16, 12, 10, 11]);
});

test("the ends: all keep, none keeps, one value", () => {
  const all = findUpTo(100, { ...RANGE, max: 24 });
  assert.deepEqual(
    [all.tried, all.search.ends],
    [[1, 2, 4, 8, 16, 24], { highest: 24, broken: undefined, unresolved: undefined }],
  );
  assert.deepEqual(findUpTo(100, { ...RANGE, max: 24 }, true, "ends").tried, [1, 2, 4, 8, 16, 24, 24]);
  for (const [confirmation, tried] of [
    ["none", [3]],
    ["ends", [3, 3]],
    ["steps", [3, 3]],
  ] as const) {
    const none = findUpTo(2, { ...RANGE, min: 3 }, true, confirmation);
    assert.deepEqual([none.tried, none.search.ends], [tried, { highest: undefined, broken: 3, unresolved: undefined }]);
    assert.deepEqual(none.search.votesOf(3), { kept: 0, broken: tried.length });
  }
  assert.deepEqual(findUpTo(9, { kind: "list", values: [8] }).search.ends, {
    highest: 8,
    broken: undefined,
    unresolved: undefined,
  });
});

test("the answer is below each load that breaks a limit, whatever was kept above it", () => {
  const tried = [1, 2, 8, 4].map((load) => ({ load, state: load === 4 ? ("broken" as const) : ("kept" as const) }));
  assert.deepEqual(endsOf(tried), { highest: 2, broken: 4, unresolved: undefined });
  assert.deepEqual(endsOf([]), { highest: undefined, broken: undefined, unresolved: undefined });
});

const NOISE: readonly (readonly [name: string, noisy: Record<number, readonly number[]>, tried: readonly number[]])[] =
  [
    ["none", {}, [1, 2, 4, 8, 16, 12, 10, 11, 10, 11]],
    ["a load far below breaks the limits once", { 4: [0] }, [1, 2, 4, 3, 3, 4, 4, 8, 16, 12, 10, 11, 10, 11]],
    ["the highest breaks them once", { 10: [0] }, [1, 2, 4, 8, 16, 12, 10, 9, 9, 10, 10, 11, 11]],
    ["the highest breaks them when it is confirmed", { 10: [1] }, [1, 2, 4, 8, 16, 12, 10, 11, 10, 10, 11]],
    ["one too high keeps them once", { 11: [0] }, [1, 2, 4, 8, 16, 12, 10, 11, 11, 11, 10]],
    ["the lowest breaks them once", { 1: [0] }, [1, 1, 1, 2, 4, 8, 16, 12, 10, 11, 10, 11]],
  ];
for (const [name, noisy, expected] of NOISE) {
  test(`one noisy measurement does not decide a search with confirmed ends: ${name}`, () => {
    const ladder = createLadder({ ...RANGE, max: 16 }, true);
    const { search, tried } = searchWith(new LoadSearch(ladder, "ends"), 10, noisy);
    assert.deepEqual(search.ends, { highest: 10, broken: 11, unresolved: undefined });
    assert.ok(search.votesOf(10).kept >= 2 && search.votesOf(11).broken >= 2);
    assert.deepEqual(tried, expected);
  });
}

/** Rungs 0 to 6 of a linear search. Those up to 3 keep the limits. */
const STEPS: readonly (readonly [name: string, noisy: Record<number, readonly number[]>, tried: readonly number[]])[] =
  [
    ["none", {}, [0, 1, 2, 3, 4, 4, 3]],
    ["a load below breaks the limits once", { 1: [0] }, [0, 1, 1, 1, 2, 3, 4, 4, 3]],
    ["the highest breaks them when it is confirmed", { 3: [1] }, [0, 1, 2, 3, 4, 4, 3, 3]],
    ["the highest needed a third measurement to be passed", { 3: [0] }, [0, 1, 2, 3, 3, 3, 4, 4, 3]],
    ["that, and it breaks them once more", { 3: [0, 3] }, [0, 1, 2, 3, 3, 3, 4, 4, 3, 3]],
    ["one too high keeps them once", { 4: [0] }, [0, 1, 2, 3, 4, 5, 5, 4, 4, 3]],
  ];
for (const [name, noisy, expected] of STEPS) {
  test(`one noisy measurement does not decide a search with confirmed steps: ${name}`, () => {
    const ladder = ladderOf({
      unit: "concurrency",
      levels: { kind: "range", start: 0, end: 6, step: 1 },
      search: "linear",
    });
    const { search, tried } = searchWith(new LoadSearch(ladder, "steps"), 3, noisy);
    assert.deepEqual([tried, search.ends.highest], [expected, 3]);
  });
}

test("two noisy measurements of three move a search by that load, and it ends", () => {
  return fc.assert(
    fc.property(
      fc.infiniteStream(fc.constantFrom("kept", "broken", "unresolved")),
      fc.integer({ min: 1, max: 64 }),
      fc.constantFrom("none", "ends", "steps"),
      (noise, max, confirmation) => {
        const search = new LoadSearch(createLadder({ ...RANGE, max }, true), confirmation);
        let count = 0;
        for (let load = search.next(); load !== undefined; load = search.next()) {
          assert.ok(++count <= 4 * max);
          const state = noise.next().value as LoadState;
          // Only searches that confirm nothing have loads that cannot be decided.
          search.add(load, state === "unresolved" && confirmation !== "none" ? "broken" : state);
        }
        const { highest, broken = max + 1 } = search.ends;
        assert.ok(highest === undefined || highest < broken);
        if (confirmation !== "ends") return;
        assert.ok(highest === undefined || search.votesOf(highest).kept >= 2);
        assert.ok(broken > max || search.votesOf(broken).broken >= 2);
      },
    ),
  );
});

test("a list is searched by its values, in their order whatever the list's", () => {
  const list = { kind: "list", values: [40, 10, 20, 10, 80, 160, 0.5] } as const;
  for (const [knee, highest, broken] of [
    [0.7, 0.5, 10],
    [45, 40, 80],
    [80, 80, 160],
    [200, 160, undefined],
  ] as const)
    assert.deepEqual(findUpTo(knee, list, false, "ends").search.ends, { highest, broken, unresolved: undefined });
});

/** Searches where loads from `from` to `to` cannot be decided, those below keep the limits and those above break them. */
function searchAround(from: number, to: number, loads: SearchedLoads, within: number): Found {
  const search = new LoadSearch(createLadder(loads, false), "none", within);
  const tried: number[] = [];
  for (let load = search.next(); load !== undefined; load = search.next()) {
    assert.ok(!tried.includes(load), String(load));
    tried.push(load);
    search.add(load, load < from ? "kept" : load <= to ? "unresolved" : "broken");
  }
  return { search, tried };
}

test("above a load that cannot be decided the search goes up, and both ends come close to such loads", () => {
  for (const [from, to] of [
    [95, 99],
    [90, 130],
    [0.1, 60],
    [700, 999],
  ] as const) {
    const { search, tried } = searchAround(from, to, { kind: "range", min: 1, max: 500 }, 0.1);
    const { highest = 0, broken = 500, unresolved } = search.ends;
    const isClose = isAnswered(search.ends, 0.1);
    assert.equal(isClose, to < from * 1.07 || from > 500, `${highest} to ${broken}`);
    assert.ok(tried.length <= 18, String(tried));
    if (unresolved === undefined || isClose) continue;
    const [lowest, top] = unresolved;
    assert.ok(highest === 0 || lowest <= highest * 1.1, `${highest}, ${lowest}`);
    assert.ok(broken <= top * 1.1, `${top}, ${broken}`);
  }
});

test("loads at the lower end that cannot be decided are passed, and an upper end that cannot be decided is the last", () => {
  const low = searchAround(0, 3, { kind: "range", min: 1, max: 16 }, 0.1);
  // Everything from 4 on breaks the limits, so that the lower end stays open.
  assert.deepEqual(low.search.ends.highest, undefined);
  assert.equal(isAnswered(low.search.ends, 0.1), false);
  const search = new LoadSearch(createLadder({ kind: "list", values: [1, 2, 3, 4] }, true), "none", 0.1);
  for (const [load, state] of [
    [1, "unresolved"],
    [2, "kept"],
    [4, "unresolved"],
    [3, "kept"],
  ] as const) {
    assert.equal(search.next(), load);
    search.add(load, state);
  }
  assert.deepEqual([search.next(), search.ends.highest, isAnswered(search.ends, 0.1)], [undefined, 3, false]);
});

test("rates are searched between whole numbers too, to 2 %", () => {
  for (const knee of [0.7, 7.3, 123, 4567]) {
    const { search, tried } = findUpTo(knee, { kind: "range", min: 0.5, max: 10_000 }, false);
    const { highest = 0 } = search.ends;
    assert.ok(highest <= knee && highest > knee * 0.975, `${highest} of ${knee}`);
    assert.ok(tried.some((rate) => !Number.isInteger(rate)));
  }
});

test("a range doubles up to its end, and halves the distance", () => {
  const ladder = createLadder({ kind: "range", min: 3, max: 20 }, true);
  assert.deepEqual([ladder.first, ladder.above(3), ladder.above(12), ladder.above(20)], [3, 6, 20, undefined]);
  assert.deepEqual([ladder.between(6, 12), ladder.between(6, 7)], [9, undefined]);
});

test("a list has no other loads, whatever its order", () => {
  const ladder = createLadder({ kind: "list", values: [8, 1, 2, 4, 8, 16] }, true);
  assert.deepEqual([ladder.first, ladder.above(1), ladder.above(2), ladder.above(16)], [1, 2, 8, undefined]);
  assert.deepEqual([ladder.between(2, 16), ladder.between(2, 4)], [4, undefined]);
});

test("a search among levels tries these only", () => {
  const search = { levels: { kind: "list", values: [1, 4, 16, 64] }, search: "highest", unit: "concurrency" } as const;
  const ladder = ladderOf(search);
  assert.deepEqual([ladder.first, ladder.above(1), ladder.above(4), ladder.between(4, 64)], [1, 4, 64, 16]);
  assert.equal(ladder.levelAt(16), 16);
});

test("how close is close enough can be chosen", () => {
  const near = createLadder({ kind: "range", min: 1, max: 1000 }, false, 0.5);
  assert.deepEqual([near.between(100, 149), near.between(100, 160)], [undefined, 130]);
});
