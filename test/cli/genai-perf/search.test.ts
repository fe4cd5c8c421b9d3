import assert from "node:assert/strict";
import { test } from "node:test";
import { combineSweeps } from "../../../src/cli/genai-perf/analyze/points.ts";
import { createLadder, type SearchAnswer, searchHighest } from "../../../src/cli/genai-perf/analyze/search.ts";
import type { Sweep } from "../../../src/cli/genai-perf/settings.ts";

/** The search for the highest load, with loads that keep limits up to a known one. */

async function search(sweep: Sweep, knee: number): Promise<{ answer: SearchAnswer; tried: number[] }> {
  const tried: number[] = [];
  const answer = await searchHighest(createLadder(sweep), async (load) => {
    tried.push(load);
    return load <= knee;
  });
  return { answer, tried };
}

const CONCURRENCY = { kind: "range", type: "concurrency", min: 1, max: 1024 } as const;

test("every knee of a range is found, and nothing is tried twice or out of the range", async () => {
  for (let knee = 1; knee <= 100; knee++) {
    const { answer, tried } = await search({ ...CONCURRENCY, max: 100 }, knee);
    const broken = knee === 100 ? undefined : knee + 1;
    // From 50 on two neighbours are closer than measurements are exact.
    if (knee < 50) assert.deepEqual(answer, { kind: "found", highest: knee, broken });
    else assert.ok(answer.kind === "found" && answer.highest <= knee && answer.highest >= knee * 0.98, String(knee));
    assert.equal(new Set(tried).size, tried.length);
    assert.ok(tried.every((load) => load >= 1 && load <= 100) && tried.length <= 14);
  }
});

test("the ends: all keep, none keeps, one value", async () => {
  assert.deepEqual((await search(CONCURRENCY, 5000)).answer, { kind: "found", highest: 1024, broken: undefined });
  assert.deepEqual(await search({ ...CONCURRENCY, min: 3 }, 2), { answer: { kind: "none", lowest: 3 }, tried: [3] });
  const list = { kind: "list", type: "concurrency", values: [8] } as const;
  assert.deepEqual((await search(list, 9)).answer, { kind: "found", highest: 8, broken: undefined });
});

test("a list is searched by its values, in their order whatever the list's", async () => {
  const list = { kind: "list", type: "request_rate", values: [40, 10, 20, 10, 80, 160, 0.5] } as const;
  for (const [knee, highest, broken] of [
    [0.7, 0.5, 10],
    [45, 40, 80],
    [80, 80, 160],
    [200, 160, undefined],
  ] as const)
    assert.deepEqual((await search(list, knee)).answer, { kind: "found", highest, broken });
});

test("rates are searched between whole numbers too, to 2 %", async () => {
  const rates = { kind: "range", type: "request_rate", min: 0.5, max: 100 } as const;
  const { answer, tried } = await search(rates, 7.3);
  assert.ok(answer.kind === "found" && answer.highest <= 7.3 && answer.highest > 7.3 * 0.98, JSON.stringify(answer));
  assert.ok(tried.some((rate) => !Number.isInteger(rate)));
});

test("a search that is stopped has no answer", async () => {
  const answer = await searchHighest(createLadder(CONCURRENCY), async (load) => (load < 4 ? true : undefined));
  assert.deepEqual(answer, { kind: "stopped" });
});

test("sweeps are combined, the last changing fastest; none is one point", () => {
  assert.deepEqual(
    combineSweeps([
      { kind: "list", type: "num_dataset_entries", values: [5, 6] },
      { kind: "range", type: "concurrency", min: 1, max: 3 },
    ]),
    [5, 6].flatMap((entries) =>
      [1, 2].map((load) => [
        ["num_dataset_entries", entries],
        ["concurrency", load],
      ]),
    ),
  );
  assert.deepEqual(combineSweeps([]), [[]]);
});
