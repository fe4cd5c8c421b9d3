import { functionsOf, withCalls } from "../plan/functions.ts";
import type { Plan } from "../plan/plan.ts";
import { userError } from "../plan/problem.ts";
import { locate } from "../runtime/files.ts";
import { loadScenario } from "./load-module.ts";
import { type FieldContext, resolveFields } from "./resolve.ts";
import { type PlanOverrides, toPlan } from "./to-plan.ts";

/** Source of a scenario's functions for another thread: plain data. Functions cannot be sent, so each thread loads the scenario. */
export interface FunctionsSource {
  readonly folder: string;
  /** Values on which the fields of the scenario depend. */
  readonly context: FieldContext;
  readonly overrides: PlanOverrides;
}

/**
 * Loads a scenario in this thread. `setup` is not called.
 * @param plan a plan of the scenario, with the names of its functions
 * @param api exports of `"rampart"`
 * @returns the plan with the scenario's functions in this thread
 * @throws UserError if the scenario has other functions in this thread
 */
export async function loadFunctions(
  plan: Plan,
  { folder, context, overrides }: FunctionsSource,
  api: object,
): Promise<Plan> {
  const { scenario } = await loadScenario(locate(context.path), api);
  const functions = functionsOf(toPlan(resolveFields(scenario, context), folder, overrides));
  const missing = [...functionsOf(plan).keys()].find((name) => !functions.has(name));
  if (missing === undefined) return withCalls(plan, functions);
  const message = `is a function that ${context.file} gives only once, and each worker needs it`;
  throw userError("unsupported", missing, message, "Send with one worker.");
}

/** Returns the reason why the functions of a scenario cannot be loaded elsewhere; undefined if they can. */
export function whyNotElsewhere({ context }: FunctionsSource): string | undefined {
  try {
    structuredClone(context.started?.value);
    return undefined;
  } catch {
    return "what setup returned cannot be sent to other threads";
  }
}
