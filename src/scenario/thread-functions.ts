import { functionNamesOf, holdsFunction } from "../plan/functions.ts";
import type { Plan } from "../plan/plan.ts";
import { userError } from "../plan/problem.ts";
import { locate } from "../runtime/files.ts";
import { loadScenario } from "./load-module.ts";
import { type FieldContext, resolveFields } from "./resolve.ts";
import { type PlanOverrides, toPlan } from "./to-plan.ts";

/** Where another thread finds the functions of a scenario: plain data. Functions do not travel, so each thread loads the scenario. */
export interface FunctionsSource {
  readonly folder: string;
  /** What the fields of the scenario depend on. */
  readonly context: FieldContext;
  readonly overrides: PlanOverrides;
}

/** Largest number of times that the fields of a scenario are called before its run. */
const MOST_CALLS = 3;

/**
 * Loads a scenario, so that this thread has the functions that a plan of it names. `setup` is not called.
 * @param api exports of `"rampart"`
 * @throws UserError when the scenario gives other functions here
 */
export async function loadFunctions(
  plan: Plan,
  { folder, context, overrides }: FunctionsSource,
  api: object,
): Promise<void> {
  const { scenario } = await loadScenario(locate(context.path), api);
  const names = functionNamesOf(plan);
  // Functions that fields make are new ones with each call, under the next number.
  for (let call = 0; call < MOST_CALLS && !names.every(holdsFunction); call++)
    toPlan(resolveFields(scenario, context), folder, overrides);
  const missing = names.find((name) => !holdsFunction(name));
  if (missing === undefined) return;
  const message = `is a function that ${context.file} gives only once, and each worker needs it`;
  throw userError("unsupported", missing, message, "Send with one worker.");
}

/** Returns why the functions of a scenario cannot be loaded elsewhere; undefined when they can. */
export function whyNotElsewhere({ context }: FunctionsSource): string | undefined {
  try {
    structuredClone(context.started?.value);
    return undefined;
  } catch {
    return "what setup returned cannot be sent to other threads";
  }
}
