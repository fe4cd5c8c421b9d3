import { type ConversionConfig, toJsonSchema } from "@valibot/to-json-schema";
import { COMPARISON_VERSION, createComparisonSchema } from "./comparison.ts";
import { createReportSchema, REPORT_VERSION } from "./report-schema.ts";
import { createScenariosSchema, SCENARIOS_VERSION } from "./scenarios.ts";
import { createSweepSchema, SWEEP_VERSION } from "./sweep.ts";

/** Returns the JSON Schema (draft 2020-12) of Rampart's JSON report. */
export function reportJsonSchema(): object {
  return publish(createReportSchema(), "report", "report", REPORT_VERSION);
}

/** Returns the JSON Schema (draft 2020-12) of Rampart's JSON of a comparison. */
export function comparisonJsonSchema(): object {
  return publish(createComparisonSchema(), "comparison", "of a comparison", COMPARISON_VERSION);
}

/** Returns the JSON Schema (draft 2020-12) of Rampart's JSON of a sweep. */
export function sweepJsonSchema(): object {
  return publish(createSweepSchema(), "sweep", "of a sweep", SWEEP_VERSION);
}

/** Returns the JSON Schema (draft 2020-12) of Rampart's JSON of several scenarios. */
export function scenariosJsonSchema(): object {
  return publish(createScenariosSchema(), "scenarios", "of several scenarios", SCENARIOS_VERSION);
}

function publish(own: Parameters<typeof toJsonSchema>[0], name: string, what: string, version: number): object {
  const { $schema: _draft, ...schema } = toJsonSchema(own, { target: "draft-2020-12" } satisfies ConversionConfig);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:rampart:${name}:${version}`,
    title: `Rampart's JSON ${what}, version ${version}`,
    ...schema,
  };
}
