import { concurrencyMode } from "../load/concurrency.ts";
import { concurrencyRampMode } from "../load/concurrency-ramp.ts";
import { intervalsMode } from "../load/intervals.ts";
import type { Drive, LevelSearch, LoadMode } from "../load/load-mode.ts";
import { requestRateMode } from "../load/request-rate.ts";
import type { LoadPlan } from "../plan/plan.ts";

/** The load modes by the `kind` of their part of the plan. A new mode is one file and one line here. */
export const LOAD_MODES: { readonly [K in LoadPlan["kind"]]: LoadMode<Extract<LoadPlan, { kind: K }>> } = {
  concurrency: concurrencyMode,
  "concurrency-ramp": concurrencyRampMode,
  "request-rate": requestRateMode,
  intervals: intervalsMode,
};

/** A load mode with its part of the plan filled in. */
export interface PreparedLoad {
  readonly search: LevelSearch;
  drive(level: number): Drive;
}

/** Prepares a plan's load. Throws `UserError` when a file it names cannot be read. */
export async function prepareLoad(plan: LoadPlan): Promise<PreparedLoad> {
  const mode = LOAD_MODES[plan.kind] as LoadMode<LoadPlan>;
  const search = await mode.prepare(plan);
  return { search, drive: (level) => mode.drive(plan, level) };
}
