import * as v from "valibot";
import { deliveryEntries, LEVEL_UNIT, timelineSchema } from "./level.ts";
import { overDerivedSchema, overMetricsSchema, overRuns } from "./metrics.ts";
import { count, described } from "./parts.ts";

/** Phases and repeated runs in Rampart's JSON report. */

type PhaseEntries = typeof phaseEntries;

/** Phases and the timeline of a run, as data. */
export interface PhasesJson {
  readonly phases: NonNullable<v.InferOutput<PhaseEntries["phases"]>>;
  readonly afterPhases: NonNullable<v.InferOutput<PhaseEntries["afterPhases"]>>;
  readonly timeline: NonNullable<v.InferOutput<PhaseEntries["timeline"]>>;
}

/** The check of a phase as data. */
export type CheckJson = PhasesJson["phases"][number]["checks"][number];

/** The combined results of the runs of a repeated plan, as data. */
export type CombinationJson = v.InferOutput<typeof combinationSchema>;

/** A level of all runs, as data. */
export type CombinedLevelJson = CombinationJson["levels"][number];

/** The combined measurements of the runs at a level, as data. */
export type OverRunsJson = Omit<CombinationJson["levels"][number], "unit" | "level" | "phase">;

/** Schema of the result of an assertion or a check. */
export const verdictState = v.picklist(["pass", "fail", "unresolved"]);

const change = v.object({ ratio: v.number(), lowRatio: v.nullable(v.number()), highRatio: v.nullable(v.number()) });
const check = v.object({
  text: v.string(),
  state: verdictState,
  isMet: described(v.boolean(), "Whether the state is pass."),
  measured: v.string(),
  latencyChange: v.exactOptional(change),
  throughputChange: v.exactOptional(change),
  recoverySec: v.exactOptional(v.nullable(v.number())),
  baseMedianUs: v.exactOptional(v.number()),
  intervalSec: v.exactOptional(v.number()),
});
const phase = v.object({
  name: v.string(),
  isWarmup: v.exactOptional(v.literal(true)),
  startSec: v.number(),
  endSec: v.number(),
  inFlightAtStart: count,
  inFlightAtEnd: count,
  sent: count,
  completed: count,
  failed: count,
  cancelled: count,
  load: described(
    v.array(v.object({ level: v.number(), ...deliveryEntries })),
    "The load of each measured level of the phase.",
  ),
  checks: v.array(check),
});

/** Schema entries of the phases of a load, and the timeline of the whole run. */
export const phaseEntries = {
  phases: v.exactOptional(v.array(phase)),
  afterPhases: v.exactOptional(v.object({ completed: count, failed: count, cancelled: count })),
  timeline: v.exactOptional(v.array(timelineSchema)),
};

const results = {
  runs: described(count, "Number of runs that have it."),
  metrics: overMetricsSchema,
  derived: v.exactOptional(described(overDerivedSchema, "Metrics that the scenario derives, by name.")),
};
const numbers = v.array(v.pipe(count, v.minValue(1)));
const findMax = v.object({
  unit: LEVEL_UNIT,
  highest: v.exactOptional(
    described(overRuns, "The highest load that keeps the limits, over the runs with a certain result."),
  ),
  atHighest: v.exactOptional(described(v.object(results), "What these runs measured, each at its highest load.")),
  unresolvedRuns: described(numbers, "Numbers of the runs without a certain result, which are in no mean."),
  runsWithoutLoad: described(numbers, "Numbers of the runs in which no load keeps the limits."),
  runsAtUpperEnd: described(
    numbers,
    "Numbers of the runs in which the upper end of the search keeps the limits, so that the mean is a lower bound.",
  ),
});

/** Schema of the combined results of the runs of a repeated plan. */
export const combinationSchema = v.object({
  runs: described(count, "Number of runs that ended as planned, and so count."),
  findMax: v.exactOptional(findMax),
  levels: v.array(
    v.object({
      unit: LEVEL_UNIT,
      level: v.number(),
      phase: v.exactOptional(v.object({ index: count, name: v.string() })),
      ...results,
    }),
  ),
});

/** Schema of the requested repetition of a plan. */
export const repeatSchema = v.object({
  atLeast: count,
  atMost: count,
  until: v.exactOptional(
    v.object({
      metric: v.record(v.string(), v.unknown()),
      ratio: described(v.number(), "The precision asked for."),
      where: v.exactOptional(v.record(v.string(), v.unknown())),
      phase: v.exactOptional(v.string()),
      reachedRatio: v.nullable(v.number()),
      isReached: v.boolean(),
    }),
  ),
});
