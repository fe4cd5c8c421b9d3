import assert from "node:assert/strict";
import * as v from "valibot";
import { createReportSchema, type ReportJson } from "../../src/report/schema/report-schema.ts";

/** Rejects fields that the published schema does not describe. */
const STRICT = createReportSchema(v.strictObject as unknown as typeof v.object);

/** Asserts that a report has exactly the fields of the published schema, and returns it. @param report as `JSON.parse` returns it */
export function checkSchema(report: unknown): ReportJson {
  const checked = v.safeParse(STRICT, report);
  assert.ok(checked.success, checked.success ? "" : JSON.stringify(v.flatten(checked.issues), null, 1));
  return checked.output;
}
