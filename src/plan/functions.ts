import * as v from "valibot";
import { userError } from "./problem.ts";
import type { PlanOf } from "./schema.ts";

/**
 * The functions that a scenario gives for its requests and responses. A plan names each function and holds it. Printed as JSON, and sent to
 * another thread or host, a plan has the names only; the thread loads the scenario and puts in its own functions.
 */

/** A function in a plan. */
export type FunctionPlan = PlanOf<typeof functionSchema>;

/** Any function. Whoever calls one knows its type. */
export type PlannedFunction = (...args: never[]) => unknown;

/**
 * Returns what a plan has for a function.
 * @param place the setting that has it: `target.body`
 */
export function toFunctionPlan(place: string, fn: PlannedFunction): FunctionPlan {
  const name = /^[\w$ ]+$/.test(fn.name) ? `${place} (${fn.name})` : place;
  return { function: `${name} #1`, call: fn };
}

/** Returns a plan in which different functions have different names: the second one at a place is `target.body #2`. */
export function numberFunctions<P>(plan: P): P {
  const known = new Map<string, FunctionPlan["call"]>();
  return mapFunctions(plan, ({ function: first, call }) => {
    for (let number = 1; ; number++) {
      const key = first.replace(/\d+$/, String(number));
      if (known.has(key) && known.get(key) !== call) continue;
      known.set(key, call);
      return { function: key, call };
    }
  });
}

/** Returns the functions in a part of a plan, by name. Where a plan has names only, they have no function. */
export function functionsOf(part: unknown): ReadonlyMap<string, FunctionPlan["call"]> {
  const found = new Map<string, FunctionPlan["call"]>();
  mapFunctions(part, (plan) => {
    found.set(plan.function, plan.call);
    return plan;
  });
  return found;
}

/** Returns a plan with names only, which can be sent. */
export function withoutCalls<P>(plan: P): P {
  return mapFunctions(plan, ({ function: name }) => ({ function: name }));
}

/** Returns a plan with these functions for its names. */
export function withCalls<P>(plan: P, functions: ReturnType<typeof functionsOf>): P {
  return mapFunctions(plan, ({ function: name }) => ({ function: name, call: functions.get(name) }));
}

/** Returns the function of a plan. @throws UserError when it has the name only, as a plan from a file */
export function functionOf<F extends PlannedFunction>({ function: name, call }: FunctionPlan): F {
  if (call !== undefined) return call as F;
  throw userError("unsupported", name, IS_ELSEWHERE, "Run the scenario itself.");
}

const IS_ELSEWHERE = "is a function of the scenario, which is not in this process";

/** Returns the schema of a function in a plan. */
export function functionSchema() {
  return v.pipe(
    v.object({
      /** Its name, such as `target.body (makeBody) #1`. */
      function: v.string(),
      /** The function. JSON has no functions, so this is not printed. */
      call: v.optional(v.custom<PlannedFunction>((input) => typeof input === "function", "must be a function")),
    }),
    v.check(({ call }) => call !== undefined, IS_ELSEWHERE),
  );
}

/** Returns a part of a plan with other functions, and what has no functions as it is. */
function mapFunctions<P>(part: P, change: (plan: FunctionPlan) => FunctionPlan): P {
  if (Array.isArray(part)) {
    const items: unknown[] = part.map((item: unknown) => mapFunctions(item, change));
    return items.every((item, index) => item === part[index]) ? part : (items as P);
  }
  if (!isPlainObject(part)) return part;
  if (isFunctionPlan(part)) return change(part) as P;
  const entries = Object.entries(part).map(([name, value]) => [name, mapFunctions(value, change)] as const);
  return entries.every(([name, value]) => value === part[name]) ? part : (Object.fromEntries(entries) as P);
}

function isFunctionPlan(part: Readonly<Record<string, unknown>>): part is FunctionPlan {
  const { function: name, call, ...others } = part;
  const isCallable = call === undefined || typeof call === "function";
  return typeof name === "string" && isCallable && Object.keys(others).length === 0;
}

function isPlainObject(part: unknown): part is Readonly<Record<string, unknown>> {
  if (typeof part !== "object" || part === null) return false;
  const prototype: unknown = Object.getPrototypeOf(part);
  return prototype === Object.prototype || prototype === null;
}
