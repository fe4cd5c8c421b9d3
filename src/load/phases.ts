import * as v from "valibot";
import { type PhasePlan, phaseSchema } from "../plan/load-options.ts";
import type { LoadPlan } from "../plan/load-plan.ts";
import { defined } from "../plan/objects.ts";
import type { MeasurementModePlan } from "../plan/plan.ts";
import { kindSchema, type PlanOf, type Schema } from "../plan/schema.ts";
import { countOf } from "../plan/units.ts";
import { fromMidGap } from "./arrivals.ts";
import { drawLoad } from "./draw-load.ts";
import type { LevelUnitName } from "./level-units.ts";
import { largestLevel } from "./levels.ts";
import type { LoadMode, PhasedLoad, PreparedLoad, PreparedMode, PreparedPhase } from "./load-mode.ts";

/** Several loads in sequence, without a pause. */
export interface PhasesLoadPlan extends PlanOf<typeof schema> {}

/** Whether a load can be a phase: it continues until something else ends it, takes any data, and has neither phases nor rules. */
export function canBePhase({ requestCount, dataOrder, phases, mlperf }: LoadMode<LoadPlan>): boolean {
  return [requestCount, dataOrder, phases, mlperf].every((field) => field === undefined);
}

/** Whether a load has phases, which follow each other without a pause. A load without phases is a single unnamed phase. */
export function hasPhases({ phases }: Pick<PhasedLoad, "phases">): boolean {
  return phases[0]?.label !== undefined;
}

/** The other modes, as this mode needs them. */
export interface OtherModes {
  modeOf(load: LoadPlan): LoadMode<LoadPlan>;
  allModes(): readonly LoadMode<LoadPlan>[];
  /** Prepares a load. @param measured measurement mode of its levels @throws UserError when a file of the plan cannot be read */
  prepare(load: LoadPlan, measured?: MeasurementModePlan): PreparedLoad;
}

export function createPhasesMode({ modeOf, allModes, prepare }: OtherModes): LoadMode<PhasesLoadPlan> {
  const labelOf = (phase: PhasePlan): string => labelPhase(phase, modeOf(phase.load));
  return {
    schema: () => {
      const modes = allModes().filter(canBePhase);
      return schema(kindSchema(modes.map((mode) => mode.schema())));
    },
    prepare: ({ phases }, measured) => {
      const prepared = phases.map(
        (plan, index): PreparedPhase => ({
          plan,
          label: labelOf(plan),
          load: beginIn(plan, modeOf(plan.load), prepare(drawLoad(plan.load, index), plan.mode ?? measured)),
        }),
      );
      const drive: PreparedPhase["load"]["drive"] = (...args) => (prepared[0] as PreparedPhase).load.drive(...args);
      return { ...largestOf(prepared), drive, phases: prepared };
    },
    unit: "concurrency",
    unitOf: ({ phases }) =>
      phases.some(({ load }) => modeOf(load).unit === "request-rate") ? "request-rate" : "concurrency",
    phases: ({ phases }) => phases,
    sharesSteps: true,
    describe: ({ phases }) => `${countOf(phases.length, "phase")}: ${phases.map(labelOf).join(", ")}`,
  };
}

export function labelPhase({ name, load, isWarmup }: PhasePlan, mode: LoadMode<LoadPlan>): string {
  return name ?? (isWarmup === true ? "warm-up" : mode.describe(load));
}

/**
 * Makes a constant rate begin in the middle of a gap in a phase of fixed duration: the phase then has as many requests as gaps, whatever
 * the previous load was. A phase with a fixed number of requests begins with a whole gap, so that they take as many gaps.
 */
function beginIn(
  { load, mode }: PhasePlan,
  { arrivals, ramp }: LoadMode<LoadPlan>,
  prepared: PreparedLoad,
): PreparedLoad {
  const isEven = arrivals?.(load).gapDeviationRatio === 0 && ramp?.(load) === undefined;
  if (!isEven || mode?.kind !== "duration") return prepared;
  return {
    ...prepared,
    drive: (...args) => {
      const drive = prepared.drive(...args);
      return drive.kind === "scheduled" ? { ...drive, arrivals: fromMidGap(drive.arrivals) } : drive;
    },
  };
}

function schema(load: Schema<LoadPlan>) {
  return v.object({
    kind: v.literal("phases"),
    phases: v.pipe(v.array(phaseSchema(load)), v.minLength(1, "must have a phase")),
  });
}

/** Returns the level that represents all phases when lanes and connections are counted. */
function largestOf(phases: readonly PreparedPhase[]): Pick<PreparedMode, "level" | "maxConcurrency"> {
  const largest = (unit: LevelUnitName): number | undefined => {
    const ofUnit = phases.filter(({ load }) => load.search.unit === unit);
    return ofUnit.length === 0
      ? undefined
      : Math.max(...ofUnit.map(({ load }) => largestLevel(load.search.levels) ?? 0));
  };
  const rate = largest("request-rate");
  const maxConcurrency = largest("concurrency");
  return defined(rate === undefined ? { level: maxConcurrency } : { level: rate, maxConcurrency });
}
