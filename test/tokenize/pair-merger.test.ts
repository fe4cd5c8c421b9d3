import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { MergeList, mergePairs } from "../../src/tokenize/pair-merger.ts";

/** The merging of pairs against the rule itself, for words on both sides of where it changes its way. */

const SYMBOLS = 4;

/** The lowest rank first, the leftmost of equal ones, until nothing fits. */
function mergeByRule(word: readonly number[], merges: readonly (readonly [number, number])[]): number[] {
  let symbols = [...word];
  for (;;) {
    let best: { rank: number; at: number } | undefined;
    for (let at = 0; at + 1 < symbols.length; at++) {
      const rank = merges.findLastIndex(([left, right]) => left === symbols[at] && right === symbols[at + 1]);
      if (rank >= 0 && (best === undefined || rank < best.rank)) best = { rank, at };
    }
    if (best === undefined) return symbols;
    symbols = [...symbols.slice(0, best.at), SYMBOLS + best.rank, ...symbols.slice(best.at + 2)];
  }
}

test("merges by rank", () => {
  // Mostly of what is there already, now and then of what a later merge makes.
  const symbol = fc.oneof({ weight: 9, arbitrary: fc.nat({ max: SYMBOLS + 3 }) }, fc.nat({ max: SYMBOLS + 20 }));
  const merges = fc.array(fc.tuple(symbol, symbol), { minLength: 8, maxLength: 20 });
  const base = fc.nat({ max: SYMBOLS - 1 });
  const word = fc.oneof(fc.array(base), fc.array(base, { minLength: 40, maxLength: 130 }));
  let shortened = 0;
  fc.assert(
    fc.property(merges, word, (known, symbols) => {
      const merges = new MergeList();
      for (const [left, right] of known) merges.add(left, right);
      const own = [...symbols];
      const count = mergePairs(own, {
        rankOf: (left, right) => merges.rankOf(left, right),
        tokenOf: (rank) => SYMBOLS + rank,
      });
      if (symbols.length > 60 && count < symbols.length) shortened++;
      assert.deepEqual(own.slice(0, count), mergeByRule(symbols, known));
    }),
    { numRuns: 400 },
  );
  assert.ok(shortened > 20, `only ${shortened} long words were merged`);
});
