import { toJsonSchema } from "@valibot/to-json-schema";
import { createReportSchema } from "./report-schema.ts";
import { REPORT_VERSION } from "./version.ts";

/** Returns the JSON Schema (draft 2020-12) of Rampart's JSON report. */
export function reportJsonSchema(): object {
  const { $schema: _draft, ...schema } = toJsonSchema(createReportSchema(), { target: "draft-2020-12" });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:rampart:report:${REPORT_VERSION}`,
    title: `Rampart's JSON report, version ${REPORT_VERSION}`,
    ...schema,
  };
}
