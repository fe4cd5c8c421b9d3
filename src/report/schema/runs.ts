import * as v from "valibot";
import { deliveryEntries, LEVEL_UNIT, timelineSchema } from "./level.ts";
import { overDerivedSchema, overMetricsSchema, overRuns } from "./metrics.ts";
import { count, described, type Parts } from "./parts.ts";

/** Phases and repeated runs in Rampart's JSON report. */

type PhaseEntries = ReturnType<typeof phaseEntries>;

/** Phases and the timeline of a run, as data. */
export interface PhasesJson {
  readonly phases: NonNullable<v.InferOutput<PhaseEntries["phases"]>>;
  readonly afterPhases: NonNullable<v.InferOutput<PhaseEntries["afterPhases"]>>;
  readonly timeline: NonNullable<v.InferOutput<PhaseEntries["timeline"]>>;
}

/** The check of a phase as data. */
export type CheckJson = PhasesJson["phases"][number]["checks"][number];

/** The combined results of the runs of a repeated plan, as data. */
export type CombinationJson = v.InferOutput<ReturnType<typeof combinationSchema>>;

/** A level of all runs, as data. */
export type CombinedLevelJson = CombinationJson["levels"][number];

/** The combined measurements of the runs at a level, as data. */
export type OverRunsJson = Omit<CombinationJson["levels"][number], "unit" | "level" | "phase">;

/** Returns the schema of the result of an assertion or a check. */
export function verdictState() {
  return v.picklist(["pass", "fail", "unresolved"]);
}

/** Returns the schema entries of phases of a load, and the timeline of the whole run. */
export function phaseEntries(parts: Parts) {
  const { object } = parts;
  const optional = v.exactOptional;
  const change = object({ ratio: v.number(), lowRatio: v.nullable(v.number()), highRatio: v.nullable(v.number()) });
  const check = object({
    text: v.string(),
    state: verdictState(),
    isMet: described(v.boolean(), "Whether the state is pass."),
    measured: v.string(),
    latencyChange: optional(change),
    throughputChange: optional(change),
    recoverySec: optional(v.nullable(v.number())),
    baseMedianUs: optional(v.number()),
    intervalSec: optional(v.number()),
  });
  const phase = object({
    name: v.string(),
    isWarmup: optional(v.literal(true)),
    startSec: v.number(),
    endSec: v.number(),
    inFlightAtStart: count(),
    inFlightAtEnd: count(),
    sent: count(),
    completed: count(),
    failed: count(),
    cancelled: count(),
    load: described(
      v.array(object({ level: v.number(), ...deliveryEntries() })),
      "The load of each measured level of the phase.",
    ),
    checks: v.array(check),
  });
  return {
    phases: optional(v.array(phase)),
    afterPhases: optional(object({ completed: count(), failed: count(), cancelled: count() })),
    timeline: optional(v.array(timelineSchema(parts))),
  };
}

/** Returns the schema of the combined results of the runs of a repeated plan. */
export function combinationSchema(parts: Parts) {
  const { object } = parts;
  const optional = v.exactOptional;
  const results = {
    runs: described(count(), "Number of runs that have it."),
    metrics: overMetricsSchema(parts),
    derived: optional(described(overDerivedSchema(parts), "Metrics that the scenario derives, by name.")),
  };
  const numbers = v.array(v.pipe(count(), v.minValue(1)));
  const findMax = object({
    unit: LEVEL_UNIT,
    highest: optional(
      described(overRuns(parts), "The highest load that keeps the limits, over the runs with a certain result."),
    ),
    atHighest: optional(described(object(results), "What these runs measured, each at its highest load.")),
    unresolvedRuns: described(numbers, "Numbers of the runs without a certain result, which are in no mean."),
    runsWithoutLoad: described(numbers, "Numbers of the runs in which no load keeps the limits."),
    runsAtUpperEnd: described(
      numbers,
      "Numbers of the runs in which the upper end of the search keeps the limits, so that the mean is a lower bound.",
    ),
  });
  return object({
    runs: described(count(), "Number of runs that ended as planned, and so count."),
    findMax: optional(findMax),
    levels: v.array(
      object({
        unit: LEVEL_UNIT,
        level: v.number(),
        phase: optional(object({ index: count(), name: v.string() })),
        ...results,
      }),
    ),
  });
}

/** Returns the schema of the requested repetition of a plan. */
export function repeatSchema({ object }: Parts) {
  return object({
    atLeast: count(),
    atMost: count(),
    until: v.exactOptional(
      object({
        metric: v.record(v.string(), v.unknown()),
        ratio: described(v.number(), "The precision asked for."),
        where: v.exactOptional(v.record(v.string(), v.unknown())),
        reachedRatio: v.nullable(v.number()),
        isReached: v.boolean(),
      }),
    ),
  });
}
