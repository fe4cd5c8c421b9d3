import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { acceptResults, judgeResult, type Mismatches } from "./mismatches.ts";

const known: Mismatches = { listed: { reason: "It is better.", differences: ["stderr:", "  - a", "  + b"] } };

const results = [
  { title: "a match", name: "other", differences: [], problems: [] },
  { title: "a listed mismatch", name: "listed", differences: ["stderr:", "  - a", "  + b"], problems: [] },
  { title: "a mismatch that is not listed", name: "other", differences: ["x"], problems: ["other differs", "  x"] },
  {
    title: "a listed mismatch that differs otherwise",
    name: "listed",
    differences: ["stderr:", "  - a", "  + c"],
    problems: ["listed differs otherwise than listed", "  stderr:", "    - a", "    + c"],
  },
  {
    title: "a listed mismatch that matches now",
    name: "listed",
    differences: [],
    problems: ["listed matches, but is listed as a mismatch"],
  },
] as const;

describe("the gate", () => {
  for (const { title, name, differences, problems } of results)
    test(`${problems.length === 0 ? "accepts" : "refuses"} ${title}`, () => {
      assert.deepEqual(judgeResult({ name, differences: [...differences] }, known), problems);
    });
});

test("accepting results keeps reasons, adds new mismatches without one, and drops what matches", () => {
  const changed = { name: "listed", differences: ["exit code 2 instead of 0"] };
  const added = { name: "new", differences: ["x"] };
  assert.deepEqual(acceptResults(known, [changed, added, { name: "fine", differences: [] }]), {
    listed: { reason: "It is better.", differences: ["exit code 2 instead of 0"] },
    new: { reason: "", differences: ["x"] },
  });
  assert.deepEqual(acceptResults(known, [{ name: "listed", differences: [] }]), {});
});
