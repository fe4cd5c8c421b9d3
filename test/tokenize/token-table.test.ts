import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TokenTable } from "../../src/tokenize/token-table.ts";

/** The table of tokens, held against a `Map`. */

test("a table finds what a Map finds, both ways, whatever its size", () => {
  const token = fc.oneof(fc.string({ maxLength: 3 }), fc.string({ unit: "grapheme", maxLength: 300 }));
  const tokens = fc.array(fc.tuple(token, fc.nat({ max: 5000 })), { maxLength: 2000 });
  fc.assert(
    fc.property(tokens, fc.array(token), (known, others) => {
      const table = new TokenTable();
      const ids = new Map<string, number>();
      const givenTo = new Map<number, Set<string>>();
      for (const [text, id] of known) {
        table.setText(text, id);
        ids.set(text, id);
        givenTo.set(id, (givenTo.get(id) ?? new Set()).add(text));
      }
      assert.equal(table.size, ids.size);
      for (const text of [...ids.keys(), ...others]) assert.equal(table.idOf(text), ids.get(text));
      // An id that several tokens were given is that of one of them, or of none.
      for (const [text, id] of ids)
        if (givenTo.get(id)?.size === 1) assert.equal(table.tokenOf(id), text);
        else assert.ok([undefined, id].includes(ids.get(table.tokenOf(id) ?? text)));
      for (const id of [-1, 5001, 1e9]) assert.equal(table.tokenOf(id), undefined);
    }),
    { numRuns: 60 },
  );
});

test("a byte order mark is a token like any other", () => {
  const table = new TokenTable();
  table.setText("\uFEFFa", 0);
  assert.deepEqual([table.tokenOf(0), table.idOf("\uFEFFa"), table.idOf("a")], ["\uFEFFa", 0, undefined]);
});

test("a token with a second id has only that one", () => {
  const table = new TokenTable();
  table.setText("a", 3);
  table.setText("a", 9);
  assert.deepEqual([table.idOf("a"), table.tokenOf(9), table.tokenOf(3), table.size], [9, "a", undefined, 1]);
});

test("two tokens together are looked up by their bytes, also of half characters", () => {
  const table = new TokenTable();
  const [first, second] = [Uint8Array.of(0xc3), Uint8Array.of(0xa9)];
  table.set(first, 0, 1, 1);
  table.set(second, 0, 1, 2);
  table.setText("\u00E9", 7);
  assert.deepEqual([table.idOfPair(1, 2), table.idOfPair(2, 1), table.idOfPair(1, 8)], [7, -1, -1]);
});
