import type * as v from "valibot";

/** A schema that accepts any input and returns `T`. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/** The part of a plan that a schema describes: `PlanOf<typeof tlsSchema>`. */
export type PlanOf<S extends (...parts: never[]) => v.GenericSchema> = Frozen<v.InferOutput<ReturnType<S>>>;

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;
