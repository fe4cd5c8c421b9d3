import assert from "node:assert/strict";
import { test } from "node:test";
import { SEARCH_CASES, simulateCase, tallyAnswers } from "./search-cases.ts";

/** Whole searches on simulated servers, whose highest load is known. `npm run bench:find-max` repeats them 100 times. */

/** Searches that take little time to simulate, with the number of seeds. */
const RUNS: Readonly<Record<string, number>> = {
  "M/M/1, 1,000/s, mean < 2.5 ms": 1,
  "M/D/1, 500/s, p95 < 10 ms": 1,
  "8 servers of 20 ms, p99 < 50 ms": 1,
  "users of M/M/1, 500/s, p95 < 20 ms": 2,
  "users of 16 servers of 20 ms, p99 < 21 ms": 2,
  "M/M/1, 1,000/s, up to 400/s, at most 10 s": 4,
  "users of 16 servers of 20 ms, up to 12": 2,
  "users of 8 servers of 2 ms that drift, up to 8": 2,
};

for (const one of SEARCH_CASES) {
  const runs = RUNS[one.name];
  if (runs === undefined) continue;
  test(`the search is right for ${one.name}`, async () => {
    const answers = await simulateCase(one, runs);
    assert.deepEqual(tallyAnswers(one, answers), { right: runs, unresolved: 0, wrong: 0 }, JSON.stringify(answers));
  });
}

test("a time that is too short leaves the answer open, and what it says is right", async () => {
  const found = SEARCH_CASES.find(({ name }) => name === "M/D/1, 500/s, p95 < 10 ms");
  assert.ok(found);
  const answers = await simulateCase({ ...found, options: { ...found.options, forAtMost: "4 s" } }, 3);
  assert.deepEqual(tallyAnswers(found, answers), { right: 0, unresolved: 3, wrong: 0 });
  for (const { highest = 0, next = Number.POSITIVE_INFINITY } of answers)
    assert.ok(highest <= found.truth && found.truth <= next, `${highest} to ${next}`);
});

test("every search of the bench has a case here, or takes too long", () => {
  assert.deepEqual(
    SEARCH_CASES.flatMap(({ name }) => (name in RUNS ? [] : [name])),
    ["M/M/1, 2,000/s, p90 < 10 ms", "M/M/1, 1,000/s, p99 < 20 ms", "M/D/1, 1,000/s, p99 < 8 ms"],
  );
});
