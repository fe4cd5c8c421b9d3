import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import { UserError } from "../../../src/plan/problem.ts";
import { groupSteps } from "../../../src/run/groups/request-groups.ts";

test("steps with the same tags and the same member are a group, whatever the order of the tags", () => {
  const groups = groupSteps(
    [
      { member: 0, tags: { a: "1", b: "2" } },
      { member: 0, tags: { b: "2", a: "1" } },
      { member: 1, tags: { a: "1", b: "2" } },
      { member: 0, tags: {} },
      { member: 0, tags: { a: "1", b: "2" } },
    ],
    5,
  );
  assert.deepEqual([...groups.ofStep], [0, 0, 1, 2, 0]);
  assert.deepEqual(groups.tagsOf(3), {});
  groups.countSent(4);
  groups.countSent(0);
  groups.countSent(2);
  assert.deepEqual(groups.sentCounts, [2, 1, 0]);
});

test("a hundred groups are possible, and one more is an error that says which tag has many values", () => {
  const steps = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ member: 0, tags: { isl: String(n), x: "y" } }));
  assert.equal(groupSteps(steps(100), 100).list.length, 100);
  assert.throws(
    () => groupSteps(steps(400), 400),
    (error) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, /400 different sets of tags, more than 100/);
      assert.match(word(error.problems[0]?.hint ?? ""), /isl 400, x 1/);
      return true;
    },
  );
});

test("the same tags of two members are two groups, also one after the other", () => {
  const tags = { a: "1" };
  const { ofStep } = groupSteps(
    [0, 1, 1, 0].map((member) => ({ member, tags })),
    4,
  );
  assert.deepEqual([...ofStep], [0, 1, 1, 0]);
});
