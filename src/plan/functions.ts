import * as v from "valibot";
import { userError } from "./problem.ts";
import type { PlanOf } from "./schema.ts";

/**
 * The functions that a scenario provides for its requests and responses. A plan contains each function with its name. Printed
 * as JSON, or sent to another thread or host, it contains only the names; the thread loads the scenario and restores the
 * functions.
 */

export type FunctionPlan = PlanOf<typeof functionSchema>;

/** Any function. Its caller knows the type. */
export type PlannedFunction = (...args: never[]) => unknown;

/**
 * Returns a function as part of a plan.
 * @param place the setting that contains it: `target.body`
 */
export function toFunctionPlan(place: string, fn: PlannedFunction): FunctionPlan {
  const name = /^[\w$ ]+$/.test(fn.name) ? `${place} (${fn.name})` : place;
  return { function: `${name} #1`, call: fn };
}

/** Returns a plan in which different functions have different names: the second one in a place is `target.body #2`. */
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

/** Returns the functions in a part of a plan, by name. Undefined for a function of which the plan has only the name. */
export function functionsOf(part: unknown): ReadonlyMap<string, FunctionPlan["call"]> {
  const found = new Map<string, FunctionPlan["call"]>();
  mapFunctions(part, (plan) => {
    found.set(plan.function, plan.call);
    return plan;
  });
  return found;
}

/** Returns a plan with only the names of functions, which can be sent. */
export function withoutCalls<P>(plan: P): P {
  return mapFunctions(plan, ({ function: name }) => ({ function: name }));
}

export function withCalls<P>(plan: P, functions: ReturnType<typeof functionsOf>): P {
  return mapFunctions(plan, ({ function: name }) => ({ function: name, call: functions.get(name) }));
}

/** Returns the function of a plan. @throws UserError if the plan has only the name, for example because it was read from a file */
export function functionOf<F extends PlannedFunction>({ function: name, call }: FunctionPlan): F {
  if (call !== undefined) return call as F;
  throw userError("unsupported", name, IS_ELSEWHERE, "Run the scenario itself.");
}

const IS_ELSEWHERE = "is a function of the scenario, which is not in this process";

/** Returns the schema of a function in a plan. */
export function functionSchema() {
  return v.pipe(
    v.object({
      /** Name of the function, such as `target.body (makeBody) #1`. */
      function: v.string(),
      /** The function itself. JSON cannot contain functions, so it is not printed. */
      call: v.optional(v.custom<PlannedFunction>((input) => typeof input === "function", "must be a function")),
    }),
    v.check(({ call }) => call !== undefined, IS_ELSEWHERE),
  );
}

/** Returns a part of a plan with other functions. Values without functions are returned unchanged. */
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
