import assert from "node:assert/strict";
import * as v from "valibot";
import { type ReportJson, reportSchema } from "../../src/report/schema/report-schema.ts";

/** Asserts that a document has the fields of its published schema and no others, and returns it. @param document as `JSON.parse` returns it */
export function checkFields<S extends v.GenericSchema>(schema: S, document: unknown): v.InferOutput<S> {
  const checked = v.safeParse(schema, document);
  assert.ok(checked.success, checked.success ? "" : JSON.stringify(v.flatten(checked.issues), null, 1).slice(0, 2000));
  // What is read of a document lacks the fields that its schema does not have.
  assert.deepEqual(document, checked.output);
  return checked.output;
}

/** Asserts the same of a report. */
export function checkSchema(report: unknown): ReportJson {
  return checkFields(reportSchema, report);
}
