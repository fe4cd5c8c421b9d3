import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";

type SchemaCase = readonly [name: string, isAccepted: boolean, change: object];

/** Tests what the schema of a part of a plan accepts. @param valid such a part, of which each case changes fields */
export function testSchema(schema: v.GenericSchema, valid: object, cases: readonly SchemaCase[]): void {
  for (const [name, isAccepted, change] of cases)
    test(`the schema ${isAccepted ? "accepts" : "refuses"} ${name}`, () => {
      assert.equal(v.is(schema, { ...valid, ...change }), isAccepted);
    });
}
