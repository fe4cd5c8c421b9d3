import type * as v from "valibot";

/** A schema that accepts anything and yields `T`. Schemas are functions: most runs need few of them. */
export type Schema<T> = v.GenericSchema<unknown, T>;
