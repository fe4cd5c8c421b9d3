import { concurrencyMode } from "../load/concurrency.ts";
import { concurrencyRampMode } from "../load/concurrency-ramp.ts";
import { fixedScheduleMode } from "../load/fixed-schedule.ts";
import { intervalsMode } from "../load/intervals.ts";
import { LEVEL_UNITS } from "../load/level-units.ts";
import type { LoadMode, PreparedLoad } from "../load/load-mode.ts";
import { mlperfMode } from "../load/mlperf.ts";
import { mlperfServerMode } from "../load/mlperf-server.ts";
import { periodicConcurrencyMode } from "../load/periodic-concurrency.ts";
import { requestRateMode } from "../load/request-rate.ts";
import { sessionConcurrencyMode } from "../load/session-concurrency.ts";
import type { LoadPlan } from "../plan/load-plan.ts";

/** The load modes by the `kind` of their part of the plan. To add one, add a file and a line here. */
export const LOAD_MODES: { readonly [K in LoadPlan["kind"]]: LoadMode<Extract<LoadPlan, { kind: K }>> } = {
  concurrency: concurrencyMode,
  "concurrency-ramp": concurrencyRampMode,
  "request-rate": requestRateMode,
  intervals: intervalsMode,
  "fixed-schedule": fixedScheduleMode,
  "periodic-concurrency": periodicConcurrencyMode,
  "session-concurrency": sessionConcurrencyMode,
  mlperf: mlperfMode,
  "mlperf-server": mlperfServerMode,
};

/** Returns the mode of a load. */
export function loadModeOf(load: LoadPlan): LoadMode<LoadPlan> {
  return LOAD_MODES[load.kind] as LoadMode<LoadPlan>;
}

/** Prepares a plan's load. @throws UserError when a file of the plan cannot be read */
export function prepareLoad(load: LoadPlan): PreparedLoad {
  return loadModeOf(load).prepare(load);
}

/** Formats a level of a load: `concurrency 4`. */
export function describeLevel(load: LoadPlan, level: number): string {
  const mode = loadModeOf(load);
  return mode.describeLevel?.(load, level) ?? LEVEL_UNITS[mode.unit].describe(level);
}
