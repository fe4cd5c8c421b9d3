import { concurrencyMode } from "../load/concurrency.ts";
import { concurrencyRampMode } from "../load/concurrency-ramp.ts";
import { drawLoad, drawPart } from "../load/draw-load.ts";
import { fixedScheduleMode } from "../load/fixed-schedule.ts";
import { intervalsMode } from "../load/intervals.ts";
import { LEVEL_UNITS, type LevelUnitName } from "../load/level-units.ts";
import type { LevelSearch, LoadMode, MlperfRules, PhasedLoad, PreparedLoad } from "../load/load-mode.ts";
import { mlperfMode } from "../load/mlperf.ts";
import { mlperfServerMode } from "../load/mlperf-server.ts";
import { periodicConcurrencyMode } from "../load/periodic-concurrency.ts";
import { createPhasesMode, type PhasesLoadPlan } from "../load/phases.ts";
import { requestRateMode } from "../load/request-rate.ts";
import { sessionConcurrencyMode } from "../load/sessions/session-concurrency.ts";
import { sessionRateMode } from "../load/sessions/session-rate.ts";
import type { PhasePlan } from "../plan/load-options.ts";
import type { LoadPlan } from "../plan/load-plan.ts";
import type { MeasurementModePlan, Plan, TargetPlan } from "../plan/plan.ts";
import type { PlansOf } from "../plan/schema.ts";
import { seedOfNumber } from "../runtime/random.ts";
import { membersOf } from "./mix.ts";
import { targetKindOf } from "./service-kinds.ts";

/** The load modes, by the `kind` of their part of the plan. To add one, add a file and a line here. */
export const LOAD_MODES = {
  concurrency: concurrencyMode,
  "concurrency-ramp": concurrencyRampMode,
  "request-rate": requestRateMode,
  intervals: intervalsMode,
  "fixed-schedule": fixedScheduleMode,
  "periodic-concurrency": periodicConcurrencyMode,
  "session-concurrency": sessionConcurrencyMode,
  "session-rate": sessionRateMode,
  phases: createPhases(),
  mlperf: mlperfMode,
  "mlperf-server": mlperfServerMode,
};

declare module "../plan/load-plan.ts" {
  interface LoadPlans extends PlansOf<typeof LOAD_MODES> {}
}

function createPhases(): LoadMode<PhasesLoadPlan> {
  const allModes = () => Object.values(LOAD_MODES) as readonly unknown[] as readonly LoadMode<LoadPlan>[];
  return createPhasesMode({ modeOf: loadModeOf, allModes, prepare: prepareOne });
}

export function loadModeOf(load: LoadPlan): LoadMode<LoadPlan> {
  return LOAD_MODES[load.kind] as LoadMode<LoadPlan>;
}

/** Returns MLPerf's rules for the load of a plan; undefined for all other loads. */
export function mlperfRulesOf({ load }: Pick<Plan, "load">): MlperfRules | undefined {
  return loadModeOf(load).mlperf?.(load);
}

/**
 * Prepares a plan's load. @param measured how its levels are measured. Default: for a time @throws UserError when a file of the
 * plan cannot be read
 */
export function prepareLoad(load: LoadPlan, measured?: MeasurementModePlan): PhasedLoad {
  const prepared = prepareOne(load, measured);
  return { ...prepared, phases: prepared.phases ?? [{ plan: { load }, load: prepared }] };
}

function prepareOne(load: LoadPlan, measured?: MeasurementModePlan): PreparedLoad {
  const mode = loadModeOf(load);
  const { level = 1, maxConcurrency, ...prepared } = mode.prepare(load, measured);
  const single: Pick<LevelSearch, "levels" | "search"> = {
    levels: { kind: "list", values: [level] },
    search: "linear",
  };
  const mixed = maxConcurrency === undefined ? {} : { maxConcurrency };
  return { ...prepared, search: { unit: levelUnitOf(load), ...(mode.levels?.(load) ?? single), ...mixed } };
}

/** Returns the unit of a load's levels; `request-rate` when only some of its phases have a schedule. */
export function levelUnitOf(load: LoadPlan): LevelUnitName {
  const mode = loadModeOf(load);
  return mode.unitOf?.(load) ?? mode.unit;
}

/** Reports whether a measured phase of the load, or the load itself, has a schedule. */
export function hasMeasuredSchedule(load: LoadPlan): boolean {
  const measured = loadModeOf(load)
    .phases?.(load)
    .filter(({ isWarmup }) => isWarmup !== true);
  const loads = measured?.map((phase) => phase.load) ?? [load];
  return loads.some((one) => LEVEL_UNITS[levelUnitOf(one)].isScheduled);
}

/** Returns a phase of a plan's load; undefined if there is no such phase. @param index from 0 */
export function phaseOf({ load }: Pick<Plan, "load">, index: number | undefined): PhasePlan | undefined {
  return index === undefined ? undefined : loadModeOf(load).phases?.(load)[index];
}

/** Returns the plan as it applies to a phase of its load. @param index of the phase; undefined for a load without phases */
export function planOfPhase(plan: Plan, index: number | undefined): Plan {
  const phase = phaseOf(plan, index);
  if (phase === undefined) return plan;
  const { mode = plan.measurement.mode } = phase;
  return { ...plan, load: phase.load, measurement: { ...plan.measurement, mode } };
}

/**
 * Returns the plan of one of the runs of a plan, with a separate seed: the plan's seed for the first run, derived seeds for the
 * others. Every random choice of the run depends on it. With seed 0, a run uses the seeds of the plan's parts.
 * @param number from 1
 */
export function planOfRun(plan: Plan, number: number): Plan {
  const seed = seedOfNumber(plan.seed ?? 0, "run", number - 1);
  if (seed === 0 && membersOf(plan.target).length === 0) return plan;
  const { cancellation } = plan;
  return {
    ...plan,
    seed,
    target: drawTarget(plan.target, seed),
    load: drawLoad(plan.load, seed),
    inputs: drawPart(plan.inputs, seed),
    ...(cancellation === undefined ? {} : { cancellation: drawPart(cancellation, seed) }),
  };
}

/** Reports whether a plan chooses at random what it sends, or when. */
export function isDrawn({ load, inputs, cancellation, target }: Plan): boolean {
  const loads = loadModeOf(load)
    .phases?.(load)
    .map((phase) => phase.load) ?? [load];
  const members = membersOf(target);
  const data = members.length > 0 ? members.map((member) => member.inputs) : [inputs];
  return [...loads, ...data, cancellation ?? {}].some((part) => drawPart(part, 1) !== part);
}

/** Returns a target whose random choices depend on the seed. Each member of a mix gets a different seed. */
function drawTarget<T extends TargetPlan>(target: T, seed: number): T {
  const kind = targetKindOf(target);
  if (kind.withSeed !== undefined) return kind.withSeed(target, seed) as T;
  const members = membersOf(target).map((member, index) => ({
    ...member,
    target: drawTarget(member.target, seedOfNumber(seed, "member", index)),
    inputs: drawPart(member.inputs, seed),
  }));
  return members.length === 0 ? target : { ...target, members };
}
