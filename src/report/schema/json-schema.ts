import { toJsonSchema } from "@valibot/to-json-schema";
import { COMPARISON_VERSION, createComparisonSchema } from "./comparison.ts";
import { createReportSchema, REPORT_VERSION } from "./report-schema.ts";
import { createScenariosSchema, SCENARIOS_VERSION } from "./scenarios.ts";
import { createSweepSchema, SWEEP_VERSION } from "./sweep.ts";

/** Documents that Rampart writes as JSON: schema, description and version. */
const WRITTEN = {
  report: [createReportSchema, "report", REPORT_VERSION],
  comparison: [createComparisonSchema, "of a comparison", COMPARISON_VERSION],
  sweep: [createSweepSchema, "of a sweep", SWEEP_VERSION],
  scenarios: [createScenariosSchema, "of several scenarios", SCENARIOS_VERSION],
} as const;

/** Returns the JSON Schema (draft 2020-12) of a document that Rampart writes as JSON. */
export function publishedSchema(name: keyof typeof WRITTEN): object {
  const [create, what, version] = WRITTEN[name];
  const { $schema: _draft, ...schema } = toJsonSchema(create(), { target: "draft-2020-12" });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:rampart:${name}:${version}`,
    title: `Rampart's JSON ${what}, version ${version}`,
    ...schema,
  };
}
