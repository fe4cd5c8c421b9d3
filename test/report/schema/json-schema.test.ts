import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { runSchemaCommand } from "../../../src/cli/schema.ts";
import { toReportJson } from "../../../src/report/json/report-json.ts";
import { reportJsonSchema } from "../../../src/report/schema/json-schema.ts";
import { createReportSchema } from "../../../src/report/schema/report-schema.ts";
import { captureIo } from "../../cli/captured-io.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { checkSchema } from "../check-schema.ts";
import { makeLevel, makeResult } from "../make-result.ts";

/** The published schema of the JSON report. */

const plan = makePlan({ outputs: { style: "rampart" } });
const report = (): Record<string, unknown> =>
  JSON.parse(JSON.stringify(toReportJson(plan, makeResult(plan, [makeLevel()])))) as Record<string, unknown>;

test("a report has the fields of the schema, and tests reject any other", () => {
  checkSchema(report());
  assert.throws(() => checkSchema({ ...report(), surprise: 1 }));
  const { durationSec: _left, ...rest } = report();
  assert.throws(() => checkSchema(rest));
});

test("the published schema accepts fields of a later version, and refuses another version", () => {
  const schema = createReportSchema();
  assert.equal(v.is(schema, { ...report(), surprise: 1 }), true);
  assert.equal(v.is(schema, { ...report(), version: 2 }), false);
});

test("rampart schema report prints the schema with its version", async () => {
  const io = captureIo();
  assert.equal(await runSchemaCommand(["report"], "rampart schema", io.io), 0);
  const schema = JSON.parse(io.out) as Record<string, unknown>;
  assert.deepEqual(schema, JSON.parse(JSON.stringify(reportJsonSchema())));
  assert.equal(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  assert.equal(schema["$id"], "urn:rampart:report:1");
});

for (const [args, message] of [
  [[], /NAME: no schema is named. Use one of report/],
  [["reprot"], /NAME: is not the name of a schema.*reprot/],
] as const) {
  test(`rampart schema ${args.join(" ")} is a usage error`, async () => {
    const io = captureIo();
    assert.equal(await runSchemaCommand(args, "rampart schema", io.io), 64);
    assert.match(io.err, message);
  });
}
