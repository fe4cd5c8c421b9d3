import type { LevelSearch, PreparedPhase } from "../../../src/load/load-mode.ts";
import { type LevelVerdict, runSteps, Step } from "../../../src/run/conduct/step.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { makePlan } from "../../plan/make-plan.ts";

/** Measures a level. @param repeat number of earlier measurements of it */
export type RunLevel = (level: number, repeat: number) => Promise<LevelVerdict>;

/** Makes a phase from the search of its levels. @param label absent: it is the whole load */
export function phaseOf(search: LevelSearch, label?: string): PreparedPhase {
  const load = { search, drive: (concurrency: number) => ({ kind: "closed", concurrency }) as const };
  return { plan: { load: makePlan().load }, load, ...(label === undefined ? {} : { label }) };
}

/** Walks through the levels of a search. */
export async function walkSteps(
  search: LevelSearch,
  runLevel: RunLevel,
  { signal = new RunSignal(), isConfirmed = false } = {},
): Promise<void> {
  const plan = makePlan(isConfirmed ? { measurement: { latencyLimitMs: 10 } } : {});
  const first = Step.first({ phases: [phaseOf(search)] }, plan);
  await runSteps(first, signal, async (step) => step.after(await runLevel(step.level, step.repeat)));
}
