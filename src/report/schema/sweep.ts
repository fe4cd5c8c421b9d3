import * as v from "valibot";
import { count, described } from "./parts.ts";
import { reportSchema, verdictEntries } from "./report-schema.ts";

/** Rampart's JSON of a sweep, and of targets with separate loads. Its `version` changes like that of the report. */

/** Version of this JSON. */
export const SWEEP_VERSION = 2;

/** A sweep as data. */
export type SweepJson = v.InferOutput<typeof sweepSchema>;

const values = described(
  v.record(v.string(), v.union([v.number(), v.string()])),
  "The values of the point, by the name of what is varied. Those that are numbers at all points are numbers.",
);

/** Schema of the document. Unknown fields are accepted. */
export const sweepSchema = v.object({
  version: v.literal(SWEEP_VERSION),
  kind: described(
    v.picklist(["sweep", "targets"]),
    "targets: the points are targets with loads of their own, which were measured at the same time.",
  ),
  name: described(v.string(), "The scenario's name."),
  verdict: v.object(verdictEntries("points")),
  pointCount: described(count, "Number of points that were asked for."),
  points: described(
    v.array(v.object({ values, report: reportSchema })),
    "The points that were measured, each with its whole report.",
  ),
  missing: described(
    v.array(v.object({ values, reason: v.string() })),
    "The points that could not be measured, and why.",
  ),
});
