import { toJsonSchema } from "@valibot/to-json-schema";
import { COMPARISON_VERSION, comparisonSchema } from "./comparison.ts";
import { REPORT_VERSION, reportSchema } from "./report-schema.ts";
import { SCENARIOS_VERSION, scenariosSchema } from "./scenarios.ts";
import { SWEEP_VERSION, sweepSchema } from "./sweep.ts";

/** Documents that Rampart writes as JSON: schema, description and version. */
const WRITTEN = {
  report: [reportSchema, "report", REPORT_VERSION],
  comparison: [comparisonSchema, "of a comparison", COMPARISON_VERSION],
  sweep: [sweepSchema, "of a sweep", SWEEP_VERSION],
  scenarios: [scenariosSchema, "of several scenarios", SCENARIOS_VERSION],
} as const;

/** Returns the JSON Schema (draft 2020-12) of a document that Rampart writes as JSON. */
export function publishedSchema(name: keyof typeof WRITTEN): object {
  const [written, what, version] = WRITTEN[name];
  const { $schema: _draft, ...schema } = toJsonSchema(written, { target: "draft-2020-12" });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:rampart:${name}:${version}`,
    title: `Rampart's JSON ${what}, version ${version}`,
    ...schema,
  };
}
