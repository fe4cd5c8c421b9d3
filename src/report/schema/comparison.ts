import * as v from "valibot";
import { count, described, unitSchema } from "./parts.ts";
import { noteSchema, reportSchema, verdictEntries } from "./report-schema.ts";

/** Rampart's JSON of a comparison, and of `ab(…)`. Its `version` changes like that of the report. */

/** Version of this JSON. */
export const COMPARISON_VERSION = 2;

/** Comparisons of several candidates with one base, as data. */
export type ComparisonJson = v.InferOutput<typeof comparisonSchema>;

/** A comparison with one candidate, as data. */
export type ComparedJson = ComparisonJson["comparisons"][number];

/** A metric at a level of both sides, as data. */
export type MetricChangeJson = ComparedJson["levels"][number]["metrics"][number];

const end = v.nullable(v.number());

const runsNeeded = described(
  v.nullable(count),
  "Runs on each side that would decide; null: not known, or more than 1,000.",
);

const runSetSchema = v.object({
  name: v.string(),
  runs: v.array(v.object({ source: v.string(), format: v.string() })),
  notCompared: described(v.array(v.string()), "Parts of the files that are not compared."),
});

const sideSchema = v.object({
  mean: described(v.number(), "Over the runs."),
  low: described(end, "The lower end of the 95 % interval; null: not known."),
  high: end,
  runs: described(v.array(v.number()), "The value in each run."),
});

const basis = described(
  v.picklist(["runs", "within-runs", "none"]),
  "What the interval rests on: how runs differ, or the interval within a run.",
);
const change = v.object({ value: end, low: end, high: end, basis });

/** Schema entries of a change: a ratio new / base, or for ratios of requests the difference new - base. */
const changeEntries = {
  ratio: v.exactOptional(described(change, "New / base; null: an end or a value that there is not.")),
  difference: v.exactOptional(described(change, "New - base, of ratios from 0 to 1.")),
};

const comparedMetricSchema = v.object({
  name: described(v.string(), "As limits name it: latency.p99."),
  label: v.string(),
  unit: unitSchema,
  better: v.nullable(v.picklist(["higher", "lower"])),
  base: sideSchema,
  new: sideSchema,
  ...changeEntries,
  verdict: v.picklist(["better", "worse", "changed", "no-difference", "inconclusive"]),
  runsNeeded: v.exactOptional(runsNeeded),
});

const limitSchema = v.object({
  text: described(v.string(), "As it was given: p99 > +5%."),
  metric: v.string(),
  level: described(v.string(), "Name of the level."),
  state: v.picklist(["kept", "broken", "unresolved", "undecidable"]),
  unit: unitSchema,
  ...changeEntries,
  new: v.exactOptional(sideSchema),
  runsNeeded: v.exactOptional(runsNeeded),
  decidedBy: v.exactOptional(described(v.string(), "A metric whose limit is decided.")),
  reason: v.exactOptional(described(v.string(), "Why it is undecidable.")),
});

const names = v.array(v.string());

/** Schema of the document. Unknown fields are accepted. */
export const comparisonSchema = v.object({
  version: v.literal(COMPARISON_VERSION),
  verdict: v.object({
    ...verdictEntries(),
    exitCode: count,
  }),
  notes: described(v.array(noteSchema), "What a reader should know about the numbers."),
  comparisons: described(
    v.array(
      v.object({
        base: runSetSchema,
        new: runSetSchema,
        differences: described(
          v.array(v.object({ path: v.string(), base: v.string(), new: v.string() })),
          "What differs between the plans.",
        ),
        levels: v.array(
          v.object({
            level: described(v.string(), "Its name: concurrency 4."),
            metrics: v.array(comparedMetricSchema),
            onlyInBase: described(names, "Metrics that only the base has."),
            onlyInNew: names,
          }),
        ),
        onlyInBase: described(names, "Levels that only the base has."),
        onlyInNew: names,
        limits: v.array(limitSchema),
      }),
    ),
    "One for each candidate.",
  ),
  alternation: v.exactOptional(
    described(
      v.object({
        precisionRatio: described(v.number(), "The smallest relative difference that matters."),
        isStrict: v.boolean(),
        blocks: described(
          v.array(v.object({ target: v.string(), report: reportSchema })),
          "In the order of the run, each with its whole report.",
        ),
      }),
      "Of ab(…), whose targets are the base and the new side.",
    ),
  ),
});
