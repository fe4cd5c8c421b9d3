import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { alignLevels, identifyLevel, type LevelPlace } from "../../src/load/level-identity.ts";

/** Levels of several runs that are the same. */

interface Named extends LevelPlace {
  readonly name: string;
}

const at = (level: number, name: string, index?: number): Named =>
  index === undefined ? { level, name } : { level, name, phase: { index } };
const namesOf = (aligned: readonly (readonly (Named | undefined)[])[]) =>
  aligned.map((results) => results.map((result) => result?.name));

test("a level is known by its phase and its load", () => {
  const all = [at(4, ""), at(8, ""), at(4, "", 0), at(4, "", 1), at(1.5, "", 1)].map(identifyLevel);
  assert.equal(new Set(all).size, all.length);
  assert.equal(identifyLevel(at(4, "a", 2)), identifyLevel(at(4, "b", 2)));
});

describe("levels of runs are matched", () => {
  const cases: readonly (readonly [name: string, runs: Named[][], expected: (string | undefined)[][]])[] = [
    ["without a run", [], []],
    [
      "by their load",
      [[at(1, "a"), at(2, "b")], [at(2, "d")]],
      [
        ["a", undefined],
        ["b", "d"],
      ],
    ],
    [
      "by their phase, where several phases have the same load",
      [
        [at(4, "a", 0), at(4, "b", 1)],
        [at(4, "c", 0), at(4, "d", 1)],
      ],
      [
        ["a", "c"],
        ["b", "d"],
      ],
    ],
    [
      "in the order of their first appearance",
      [[at(2, "a")], [at(1, "b"), at(2, "c")]],
      [
        ["a", "c"],
        [undefined, "b"],
      ],
    ],
    [
      "by their time, where one is measured again in the same run",
      [
        [at(1, "a"), at(8, "b"), at(1, "c")],
        [at(1, "d"), at(8, "e"), at(1, "f")],
      ],
      [
        ["a", "d"],
        ["b", "e"],
        ["c", "f"],
      ],
    ],
  ];
  for (const [name, runs, expected] of cases)
    test(name, () => {
      assert.deepEqual(namesOf(alignLevels(runs)), expected);
    });

  test("by another identity", () => {
    assert.deepEqual(namesOf(alignLevels([[at(1, "a")], [], [at(9, "c")]], () => "highest")), [["a", undefined, "c"]]);
  });
});
