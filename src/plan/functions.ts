import * as v from "valibot";
import { userError } from "./problem.ts";
import type { PlanOf } from "./schema.ts";

/**
 * The functions that a scenario gives for its requests and responses. A plan is printable JSON, so it names a function and the function stays
 * in this process.
 */

/** A function in a plan. */
export type FunctionPlan = PlanOf<typeof functionSchema>;

/** Any function. Whoever calls one knows its type. */
export type RegisteredFunction = (...args: never[]) => unknown;

const HELD = new Map<string, RegisteredFunction>();

/**
 * Keeps a function and returns what a plan has instead of it. The same function at the same place always gets the same name.
 * @param place the setting that has it: `target.body`
 */
export function registerFunction(place: string, fn: RegisteredFunction): FunctionPlan {
  const name = /^[\w$ ]+$/.test(fn.name) ? `${place} (${fn.name})` : place;
  for (let number = 1; ; number++) {
    const key = `${name} #${number}`;
    const held = HELD.get(key);
    if (held !== undefined && held !== fn) continue;
    HELD.set(key, fn);
    return { function: key };
  }
}

/** Whether this process runs functions of a scenario. */
export function holdsFunctions(): boolean {
  return HELD.size > 0;
}

/** Whether this process has the function of this name. */
export function holdsFunction(key: string): boolean {
  return HELD.has(key);
}

/** Returns the names of the functions in a part of a plan. */
export function functionNamesOf(part: unknown): string[] {
  if (typeof part !== "object" || part === null) return [];
  const entries = Object.entries(part);
  const [[field, name] = []] = entries;
  if (entries.length === 1 && field === "function" && typeof name === "string") return [name];
  return entries.flatMap(([, value]) => functionNamesOf(value));
}

/** Returns the function that a plan names. @throws UserError when this process does not have it, as with a plan from a file */
export function lookUpFunction<F extends RegisteredFunction>({ function: key }: FunctionPlan): F {
  const held = HELD.get(key);
  if (held !== undefined) return held as F;
  const message = "is a function of the scenario, which is not in this process";
  throw userError("unsupported", key, message, "Run the scenario itself.");
}

/** Returns the schema of a function in a plan. */
export function functionSchema() {
  return v.object({
    /** Its name here, such as `target.body (makeBody) #1`. */
    function: v.pipe(v.string(), v.check(holdsFunction, "is a function of the scenario, which is not in this process")),
  });
}
