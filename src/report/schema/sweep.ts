import * as v from "valibot";
import { count } from "./parts.ts";
import { createReportSchema, VERDICT_NAMES } from "./report-schema.ts";

/**
 * Rampart's JSON of a sweep, and of targets with loads of their own. A later version of Rampart may add fields; `version` changes when a field is
 * removed or means something else.
 */

/** Its version. */
export const SWEEP_VERSION = 1;

/** A sweep as data. */
export type SweepJson = v.InferOutput<ReturnType<typeof createSweepSchema>>;

/** Creates the schema. @param object builds objects; default: unknown fields are accepted */
export function createSweepSchema(object: typeof v.object = v.object) {
  const values = v.pipe(
    v.record(v.string(), v.string()),
    v.description("The values of the point, by the name of what is varied."),
  );
  return object({
    version: v.literal(SWEEP_VERSION),
    kind: v.pipe(
      v.picklist(["sweep", "targets"]),
      v.description("targets: the points are targets with loads of their own, which were measured at the same time."),
    ),
    name: v.pipe(v.string(), v.description("The scenario's name.")),
    verdict: object({
      name: v.pipe(v.picklist(VERDICT_NAMES), v.description("The worst of all points.")),
      headline: v.pipe(v.string(), v.description("One sentence that says why, without a full stop.")),
    }),
    pointCount: v.pipe(count(), v.description("Number of points that were asked for.")),
    points: v.pipe(
      v.array(object({ values, report: createReportSchema(object) })),
      v.description("The points that were measured, each with its whole report."),
    ),
    missing: v.pipe(
      v.array(object({ values, reason: v.string() })),
      v.description("The points that could not be measured, and why."),
    ),
  });
}
