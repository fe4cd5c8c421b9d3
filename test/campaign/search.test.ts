import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type SearchAnswer, searchHighest } from "../../src/campaign/search.ts";
import type { Sweep } from "../../src/cli/genai-perf/options/settings.ts";
import { createLadder } from "../../src/load/load-ladder.ts";

/** The search for the highest load, with loads that keep limits up to a known one. */

/** @param noisy loads whose measurements of these numbers, from 0, say the opposite of what is true */
async function search(
  sweep: Sweep,
  knee: number,
  noisy: Readonly<Record<number, readonly number[]>> = {},
): Promise<{ answer: SearchAnswer; tried: number[] }> {
  const tried: number[] = [];
  const answer = await searchHighest(createLadder(sweep, sweep.type !== "request_rate"), async (load, repeat) => {
    assert.equal(repeat, tried.filter((one) => one === load).length);
    tried.push(load);
    return load <= knee !== (noisy[load]?.includes(repeat) ?? false);
  });
  return { answer, tried };
}

/** An answer without the votes. */
function endsOf(answer: SearchAnswer): object {
  if (answer.kind === "none") return { kind: "none", lowest: answer.lowest };
  return answer.kind === "stopped" ? answer : { kind: "found", highest: answer.highest, broken: answer.broken };
}

const CONCURRENCY = { kind: "range", type: "concurrency", min: 1, max: 1024 } as const;

test("every knee of a range is found, only the ends are tried twice, and nothing is out of the range", async () => {
  for (let knee = 1; knee <= 100; knee++) {
    const { answer, tried } = await search({ ...CONCURRENCY, max: 100 }, knee);
    const broken = knee === 100 ? undefined : knee + 1;
    // From 50 on two neighbours are closer than measurements are exact.
    if (knee < 50) assert.deepEqual(endsOf(answer), { kind: "found", highest: knee, broken });
    else assert.ok(answer.kind === "found" && answer.highest <= knee && answer.highest >= knee * 0.98, String(knee));
    const ends =
      answer.kind === "found" ? [answer.highest, ...(answer.broken === undefined ? [] : [answer.broken])] : [];
    assert.deepEqual(tried.slice(-ends.length), ends);
    const first = tried.slice(0, -ends.length);
    assert.equal(new Set(first).size, first.length);
    assert.ok(tried.every((load) => load >= 1 && load <= 100) && tried.length <= 16);
  }
});

test("the ends: all keep, none keeps, one value", async () => {
  assert.deepEqual(endsOf((await search(CONCURRENCY, 5000)).answer), {
    kind: "found",
    highest: 1024,
    broken: undefined,
  });
  const none = { kind: "none", lowest: 3, lowestVotes: { kept: 0, broken: 2 } };
  assert.deepEqual(await search({ ...CONCURRENCY, min: 3 }, 2), { answer: none, tried: [3, 3] });
  const list = { kind: "list", type: "concurrency", values: [8] } as const;
  assert.deepEqual(endsOf((await search(list, 9)).answer), { kind: "found", highest: 8, broken: undefined });
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
  test(`one noisy measurement does not decide a search: ${name}`, async () => {
    const { answer, tried } = await search({ ...CONCURRENCY, max: 16 }, 10, noisy);
    assert.deepEqual(endsOf(answer), { kind: "found", highest: 10, broken: 11 });
    assert.ok(answer.kind === "found" && answer.highestVotes.kept >= 2 && (answer.brokenVotes?.broken ?? 0) >= 2);
    assert.deepEqual(tried, expected);
  });
}

test("two noisy measurements of three move a search by that load, and it ends", () => {
  return fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.boolean()), fc.integer({ min: 1, max: 64 }), async (noise, max) => {
      let count = 0;
      const answer = await searchHighest(createLadder({ ...CONCURRENCY, max }, true), async () => {
        count++;
        return noise.next().value as boolean;
      });
      assert.ok(count <= 3 * max && answer.kind !== "stopped");
      if (answer.kind === "found")
        assert.ok(answer.highestVotes.kept >= 2 && (answer.broken ?? max + 1) > answer.highest);
    }),
  );
});

test("a list is searched by its values, in their order whatever the list's", async () => {
  const list = { kind: "list", type: "request_rate", values: [40, 10, 20, 10, 80, 160, 0.5] } as const;
  for (const [knee, highest, broken] of [
    [0.7, 0.5, 10],
    [45, 40, 80],
    [80, 80, 160],
    [200, 160, undefined],
  ] as const)
    assert.deepEqual(endsOf((await search(list, knee)).answer), { kind: "found", highest, broken });
});

test("rates are searched between whole numbers too, to 2 %", async () => {
  const rates = { kind: "range", type: "request_rate", min: 0.5, max: 100 } as const;
  const { answer, tried } = await search(rates, 7.3);
  assert.ok(answer.kind === "found" && answer.highest <= 7.3 && answer.highest > 7.3 * 0.98, JSON.stringify(answer));
  assert.ok(tried.some((rate) => !Number.isInteger(rate)));
});

test("a search that is stopped has no answer", async () => {
  const answer = await searchHighest(createLadder(CONCURRENCY, true), async (load) => (load < 4 ? true : undefined));
  assert.deepEqual(answer, { kind: "stopped" });
});
