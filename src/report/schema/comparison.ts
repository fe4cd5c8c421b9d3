import * as v from "valibot";
import { count, type Parts, unitSchema } from "./parts.ts";
import { noteSchema, VERDICT_NAMES } from "./report-schema.ts";

/**
 * Rampart's JSON of a comparison. A later version of Rampart may add fields; `version` changes when a field is
 * removed or means something else.
 */

/** Its version. */
export const COMPARISON_VERSION = 2;

/** Comparisons of several candidates with one base, as data. */
export type ComparisonJson = v.InferOutput<ReturnType<typeof createComparisonSchema>>;

/** A comparison with one candidate, as data. */
export type ComparedJson = ComparisonJson["comparisons"][number];

/** A metric at a level of both sides, as data. */
export type MetricChangeJson = ComparedJson["levels"][number]["metrics"][number];

/** The runs of one side, as data. */
export type RunSetJson = ComparedJson["base"];

/** A metric on one side, as data. */
export type SideJson = MetricChangeJson["base"];

/** A limit with its verdict, as data. */
export type LimitJson = ComparedJson["limits"][number];

/** Creates the schema. @param object builds objects; default: unknown fields are accepted */
export function createComparisonSchema(object: typeof v.object = v.object) {
  const parts: Parts = { object };
  const names = v.array(v.string());
  return object({
    version: v.literal(COMPARISON_VERSION),
    verdict: object({
      name: v.picklist(VERDICT_NAMES),
      headline: v.pipe(v.string(), v.description("One sentence that says why, without a full stop.")),
      exitCode: count(),
    }),
    notes: v.pipe(v.array(noteSchema(parts)), v.description("What a reader should know about the numbers.")),
    comparisons: v.pipe(
      v.array(
        object({
          base: runSetSchema(parts),
          new: runSetSchema(parts),
          differences: v.pipe(
            v.array(object({ path: v.string(), base: v.string(), new: v.string() })),
            v.description("What differs between the plans."),
          ),
          levels: v.array(
            object({
              level: v.pipe(v.string(), v.description("Its name: concurrency 4.")),
              metrics: v.array(metricSchema(parts)),
              onlyInBase: v.pipe(names, v.description("Metrics that only the base has.")),
              onlyInNew: names,
            }),
          ),
          onlyInBase: v.pipe(names, v.description("Levels that only the base has.")),
          onlyInNew: names,
          limits: v.array(limitSchema(parts)),
        }),
      ),
      v.description("One for each candidate."),
    ),
  });
}

function runSetSchema({ object }: Parts) {
  return object({
    name: v.string(),
    runs: v.array(object({ source: v.string(), format: v.string() })),
    notCompared: v.pipe(v.array(v.string()), v.description("Parts of the files that are not compared.")),
  });
}

function metricSchema(parts: Parts) {
  const { object } = parts;
  return object({
    name: v.pipe(v.string(), v.description("As limits name it: latency.p99.")),
    label: v.string(),
    unit: unitSchema(),
    better: v.nullable(v.picklist(["higher", "lower"])),
    base: sideSchema(parts),
    new: sideSchema(parts),
    ...changeEntries(parts),
    verdict: v.picklist(["better", "worse", "changed", "no-difference", "inconclusive"]),
    runsNeeded: v.exactOptional(runsNeeded()),
  });
}

/** A metric on one side, in its unit. */
function sideSchema({ object }: Parts) {
  const end = v.nullable(v.number());
  return object({
    mean: v.pipe(v.number(), v.description("Over the runs.")),
    low: v.pipe(end, v.description("The lower end of the 95 % interval; null: not known.")),
    high: end,
    runs: v.pipe(v.array(v.number()), v.description("The value in each run.")),
  });
}

/** A change is a ratio new / base, or for ratios of requests the difference new - base. */
function changeEntries({ object }: Parts) {
  const basis = v.pipe(
    v.picklist(["runs", "within-runs", "none"]),
    v.description("What the interval rests on: how runs differ, or the interval within a run."),
  );
  const end = v.nullable(v.number());
  const change = object({ value: end, low: end, high: end, basis });
  return {
    ratio: v.exactOptional(v.pipe(change, v.description("New / base; null: an end or a value that there is not."))),
    difference: v.exactOptional(v.pipe(change, v.description("New - base, of ratios from 0 to 1."))),
  };
}

function limitSchema(parts: Parts) {
  return parts.object({
    text: v.pipe(v.string(), v.description("As it was given: p99 > +5%.")),
    metric: v.string(),
    level: v.pipe(v.string(), v.description("Name of the level.")),
    state: v.picklist(["kept", "broken", "unresolved", "undecidable"]),
    unit: unitSchema(),
    ...changeEntries(parts),
    new: v.exactOptional(sideSchema(parts)),
    runsNeeded: v.exactOptional(runsNeeded()),
    decidedBy: v.exactOptional(v.pipe(v.string(), v.description("A metric whose limit is decided."))),
    reason: v.exactOptional(v.pipe(v.string(), v.description("Why it is undecidable."))),
  });
}

function runsNeeded() {
  return v.pipe(
    v.nullable(count()),
    v.description("Runs on each side that would decide; null: not known, or more than 1,000."),
  );
}
