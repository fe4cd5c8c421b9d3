import * as v from "valibot";
import { type ComparisonJson, comparisonSchema } from "./comparison.ts";
import { count, described } from "./parts.ts";
import { type ReportJson, reportSchema, verdictEntries } from "./report-schema.ts";
import { type SweepJson, sweepSchema } from "./sweep.ts";

/** Rampart's JSON of several scenarios in one run. Its `version` changes like that of the report. */

/** Version of this JSON. */
export const SCENARIOS_VERSION = 1;

/** Several scenarios as data. */
export type ScenariosJson = v.InferOutput<typeof scenariosSchema>;

/** A scenario as data. */
export type ScenarioJson = ScenariosJson["scenarios"][number];

/** The report of a scenario: of a run, of a sweep or of targets with separate loads, or of `ab(…)`. */
export type ScenarioReportJson = ReportJson | SweepJson | ComparisonJson;

const report: v.GenericSchema<unknown, ScenarioReportJson> = v.union([reportSchema, sweepSchema, comparisonSchema]);

/** Schema of the document. Unknown fields are accepted. */
export const scenariosSchema = v.object({
  version: v.literal(SCENARIOS_VERSION),
  kind: v.literal("scenarios"),
  verdict: v.object({
    ...verdictEntries("scenarios"),
    exitCode: described(count, "The gravest of all scenarios."),
  }),
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  durationSec: v.number(),
  scenarios: described(
    v.array(
      v.object({
        name: v.string(),
        file: v.string(),
        exitCode: v.exactOptional(described(count, "Absent: it was not run.")),
        report: v.exactOptional(
          described(
            report,
            "As this scenario has it alone: of a run, of a sweep, of targets with loads of their own, or of ab. Absent: it has none.",
          ),
        ),
        reason: v.exactOptional(described(v.string(), "Why it has no report.")),
      }),
    ),
    "In the order in which they were run.",
  ),
});

/** Returns a unique name for each scenario: its name, with its file if needed. */
export function labelsOf(scenarios: readonly Pick<ScenarioJson, "name" | "file">[]): string[] {
  return scenarios.map(({ name, file }) =>
    scenarios.some((other) => other.name === name && other.file !== file) ? `${name} (${file})` : name,
  );
}
