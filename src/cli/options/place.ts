import type { Plan } from "../../plan/plan.ts";

/** The type of the value at a path. */
export type ValueAt<P extends string, T> = P extends `${infer Key}.${infer Rest}`
  ? Key extends keyof T
    ? ValueAt<Rest, NonNullable<T[Key]>>
    : never
  : P extends keyof T
    ? T[P]
    : never;

/** Returns the value at a path, such as `client.stallTimeoutMs`; undefined if a parent is missing. */
export function valueAt(root: object, place: string): unknown {
  return place
    .split(".")
    .reduce<unknown>((group, key) => (group as Readonly<Record<string, unknown>> | null | undefined)?.[key], root);
}

/** Reports whether there is a value, including null, at a path. */
export function hasPlace(root: object, place: string): boolean {
  const end = place.lastIndexOf(".");
  const group = end < 0 ? root : valueAt(root, place.slice(0, end));
  return typeof group === "object" && group !== null && Object.hasOwn(group, place.slice(end + 1));
}

/** Sets the value at a path. Copies its parents instead of changing them, because they may be shared. */
export function putValue(root: object, place: string, value: unknown): void {
  const [key = "", ...rest] = place.split(".");
  const group = root as Record<string, unknown>;
  if (rest.length === 0) {
    group[key] = value;
    return;
  }
  const copy = { ...(group[key] as object | undefined) };
  putValue(copy, rest.join("."), value);
  group[key] = copy;
}

/** Returns a copy with a value at a path. */
export function withValue<T extends object>(root: T, place: string, value: unknown): T {
  const copy = { ...root };
  putValue(copy, place, value);
  return copy;
}

/** Values of options for a plan, by the path of the setting. */
export type PlanValues = ReadonlyMap<string, unknown>;

/** Returns a plan with the values of options. */
export function withPlanValues(plan: Plan, values: PlanValues): Plan {
  const changed = { ...plan };
  for (const [path, value] of values) putValue(changed, path, value);
  return changed;
}
