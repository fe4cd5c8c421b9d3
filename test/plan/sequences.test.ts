import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { DEFAULT_SEQUENCES, sequencesSchema } from "../../src/plan/sequences.ts";

const SCHEMAS: readonly (readonly [name: string, isAccepted: boolean, change: object])[] = [
  ["the defaults", true, {}],
  ["length 0", false, { length: 0 }],
  ["a length that is not whole", false, { length: 2.5 }],
  ["a length that varies without limit", true, { lengthVariationPct: 250 }],
  ["a variation below 0", false, { lengthVariationPct: -1 }],
  ["id 0", false, { startId: 0 }],
  ["a range of ids", true, { startId: 7, idCount: 3 }],
  ["an empty range of ids", false, { idCount: 0 }],
  ["no sequence at once", false, { concurrent: 0 }],
  ["a word for a switch", false, { isSerial: "yes" }],
];
for (const [name, isAccepted, change] of SCHEMAS)
  test(`the schema ${isAccepted ? "accepts" : "refuses"} ${name}`, () => {
    assert.equal(v.is(sequencesSchema(), { ...DEFAULT_SEQUENCES, ...change }), isAccepted);
  });
