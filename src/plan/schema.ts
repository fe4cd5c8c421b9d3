import * as v from "valibot";

/** A schema that accepts any input and returns `T`. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/** What a schema returns: `OutputOf<typeof tritonSchema>`. */
export type OutputOf<S extends (...parts: never[]) => v.GenericSchema> = v.InferOutput<ReturnType<S>>;

/** What an object with a function's entries returns: `EntriesOf<typeof extentEntries>`. */
export type EntriesOf<E extends () => v.ObjectEntries> = v.InferOutput<v.ObjectSchema<ReturnType<E>, undefined>>;

/** The part of a plan that a schema describes: `PlanOf<typeof tlsSchema>`. */
export type PlanOf<S extends (...parts: never[]) => v.GenericSchema> = Frozen<OutputOf<S>>;

type Frozen<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

/** How to correct what a check refuses: a sentence, or what makes it of the value. */
export type CheckHint<T> = string | ((given: T) => string);

/** Returns a test for `v.check` that knows how to correct what it refuses. */
export function hinted<T>(test: (given: T) => boolean, hint: CheckHint<T>): (given: T) => boolean {
  return Object.assign((given: T) => test(given), { hint });
}

/** Returns the hint of the test that refused a value; undefined when it has none. */
export function hintOfCheck({ requirement }: v.BaseIssue<unknown>, given: unknown): string | undefined {
  if (typeof requirement !== "function") return undefined;
  const { hint } = requirement as { readonly hint?: CheckHint<unknown> };
  return typeof hint === "function" ? hint(given) : hint;
}

/**
 * Returns a schema that is chosen by the input. The types of what can be chosen are not known here, so that `T` is only as true as the
 * schemas that `choose` returns.
 */
export function lazySchema<T>(choose: (input: unknown) => v.GenericSchema): Schema<T> {
  return v.lazy(choose as (input: unknown) => Schema<T>);
}

/** Returns the schema of one of several objects, which differ in `kind`. `T` is only as true as their schemas. */
export function kindSchema<T>(objects: readonly v.GenericSchema[], message?: string): Schema<T> {
  return v.variant("kind", objects as never, message);
}
