import * as v from "valibot";
import type { DriftPlan, PhasePlan, RecoveryPlan } from "../plan/load-options.ts";
import type { LoadPlan } from "../plan/load-plan.ts";
import { measurementModeSchema } from "../plan/plan.ts";
import { kindSchema } from "../plan/schema.ts";
import { drawLoad } from "./draw-load.ts";
import type { LevelUnitName } from "./level-units.ts";
import { largestLevel, prepareWith } from "./levels.ts";
import type { LoadMode, PreparedMode, PreparedPhase } from "./load-mode.ts";

/** Several loads one after the other, without a pause. */
export interface PhasesLoadPlan {
  readonly kind: "phases";
  readonly phases: readonly PhasePlan[];
}

declare module "../plan/load-plan.ts" {
  interface LoadPlans {
    readonly phases: PhasesLoadPlan;
  }
}

/** Whether a load can be a phase: it continues until something else ends it, takes any data, and has no phases or rules of its own. */
export function canBePhase({ requestCount, dataOrder, phases, mlperf }: LoadMode<LoadPlan>): boolean {
  return [requestCount, dataOrder, phases, mlperf].every((own) => own === undefined);
}

/** Creates the mode. @param modeOf returns the mode of a load @param allModes returns all load modes */
export function createPhasesMode(
  modeOf: (load: LoadPlan) => LoadMode<LoadPlan>,
  allModes: () => readonly LoadMode<LoadPlan>[],
): LoadMode<PhasesLoadPlan> {
  const labelOf = (phase: PhasePlan): string => labelPhase(phase, modeOf(phase.load));
  return {
    schema: () => schema(allModes().filter(canBePhase)),
    prepare: ({ phases }) => {
      const prepared = phases.map(
        (plan, index): PreparedPhase => ({
          plan,
          label: labelOf(plan),
          load: prepareWith(modeOf(plan.load), drawLoad(plan.load, index)),
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
    describe: ({ phases }) =>
      `${phases.length} ${phases.length === 1 ? "phase" : "phases"}: ${phases.map(labelOf).join(", ")}`,
  };
}

/** Returns the name of a phase in reports. @param mode of its load */
export function labelPhase({ name, load, isWarmup }: PhasePlan, mode: LoadMode<LoadPlan>): string {
  return name ?? (isWarmup === true ? "warm-up" : mode.describe(load));
}

function schema(modes: readonly LoadMode<LoadPlan>[]) {
  const positive = v.pipe(v.number(), v.gtValue(0, "must be above 0"));
  const loads = modes.map((mode) => mode.schema());
  const drift = v.object({ maxRatio: positive } satisfies Record<keyof DriftPlan, unknown>);
  const recovery = v.object({
    baseIndex: v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(0, "must be 0 or more")),
    withinRatio: positive,
    limitMs: v.exactOptional(positive),
  } satisfies Record<keyof RecoveryPlan, unknown>);
  const phase = v.object({
    name: v.exactOptional(v.pipe(v.string(), v.nonEmpty("must not be empty"))),
    load: kindSchema<LoadPlan>(loads),
    mode: v.exactOptional(measurementModeSchema()),
    isWarmup: v.exactOptional(v.literal(true)),
    drift: v.exactOptional(drift),
    recovery: v.exactOptional(recovery),
  } satisfies Record<keyof PhasePlan, unknown>);
  return v.object({
    kind: v.literal("phases"),
    phases: v.pipe(v.array(phase), v.minLength(1, "must have a phase")),
  });
}

/** Returns the level that stands for all phases where lanes and connections are counted. */
function largestOf(phases: readonly PreparedPhase[]): Pick<PreparedMode, "level" | "maxConcurrency"> {
  const largest = (unit: LevelUnitName): number =>
    phases.reduce((most, { load: { search } }) => {
      return search.unit === unit ? Math.max(most, largestLevel(search.levels) ?? 0) : most;
    }, 0);
  const rate = largest("request-rate");
  const concurrency = largest("concurrency");
  if (rate === 0) return { level: concurrency };
  return { level: rate, ...(concurrency === 0 ? {} : { maxConcurrency: concurrency }) };
}
