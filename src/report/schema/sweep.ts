import * as v from "valibot";
import { count, described } from "./parts.ts";
import { createReportSchema, verdictEntries } from "./report-schema.ts";

/**
 * Rampart's JSON of a sweep, and of targets with separate loads. A later version of Rampart may add fields; `version` changes when
 * a field is removed or its meaning changes.
 */

/** Version of this JSON. */
export const SWEEP_VERSION = 2;

/** A sweep as data. */
export type SweepJson = v.InferOutput<ReturnType<typeof createSweepSchema>>;

/** Creates the schema. @param object builds objects; default: unknown fields are accepted */
export function createSweepSchema(object: typeof v.object = v.object) {
  const values = described(
    v.record(v.string(), v.union([v.number(), v.string()])),
    "The values of the point, by the name of what is varied. Those that are numbers at all points are numbers.",
  );
  return object({
    version: v.literal(SWEEP_VERSION),
    kind: described(
      v.picklist(["sweep", "targets"]),
      "targets: the points are targets with loads of their own, which were measured at the same time.",
    ),
    name: described(v.string(), "The scenario's name."),
    verdict: object(verdictEntries({ object }, "points")),
    pointCount: described(count(), "Number of points that were asked for."),
    points: described(
      v.array(object({ values, report: createReportSchema(object) })),
      "The points that were measured, each with its whole report.",
    ),
    missing: described(
      v.array(object({ values, reason: v.string() })),
      "The points that could not be measured, and why.",
    ),
  });
}
