import { concurrencyMode } from "../load/concurrency.ts";
import { concurrencyRampMode } from "../load/concurrency-ramp.ts";
import { fixedScheduleMode } from "../load/fixed-schedule.ts";
import { intervalsMode } from "../load/intervals.ts";
import type { LoadMode, PreparedLoad } from "../load/load-mode.ts";
import { periodicConcurrencyMode } from "../load/periodic-concurrency.ts";
import { requestRateMode } from "../load/request-rate.ts";
import { sessionConcurrencyMode } from "../load/session-concurrency.ts";
import type { LoadPlan } from "../plan/load-plan.ts";

/** The load modes by the `kind` of their part of the plan. A new mode is one file and one line here. */
export const LOAD_MODES: { readonly [K in LoadPlan["kind"]]: LoadMode<Extract<LoadPlan, { kind: K }>> } = {
  concurrency: concurrencyMode,
  "concurrency-ramp": concurrencyRampMode,
  "request-rate": requestRateMode,
  intervals: intervalsMode,
  "fixed-schedule": fixedScheduleMode,
  "periodic-concurrency": periodicConcurrencyMode,
  "session-concurrency": sessionConcurrencyMode,
};

/** Prepares a plan's load. Throws `UserError` when a file it names cannot be read. */
export function prepareLoad(plan: LoadPlan): PreparedLoad {
  return (LOAD_MODES[plan.kind] as LoadMode<LoadPlan>).prepare(plan);
}
