import * as v from "valibot";

/** A schema that accepts any input and returns `T`. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/** The part of a plan that a schema describes: `PlanOf<typeof tlsSchema>`. */
export type PlanOf<S extends (...parts: never[]) => v.GenericSchema> = Frozen<v.InferOutput<ReturnType<S>>>;

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/**
 * valibot's functions for building schemas. They are passed to schema builders, so that modules needed at every start can define schemas
 * without loading valibot. Other modules import only types from this file.
 */
export const builders = {
  array: v.array,
  boolean: v.boolean,
  check: v.check,
  exactOptional: v.exactOptional,
  forward: v.forward,
  gtValue: v.gtValue,
  integer: v.integer,
  literal: v.literal,
  ltValue: v.ltValue,
  maxValue: v.maxValue,
  minLength: v.minLength,
  minValue: v.minValue,
  nonEmpty: v.nonEmpty,
  nullable: v.nullable,
  number: v.number,
  object: v.object,
  optional: v.optional,
  picklist: v.picklist,
  pipe: v.pipe,
  record: v.record,
  regex: v.regex,
  strictObject: v.strictObject,
  string: v.string,
  tuple: v.tuple,
  unknown: v.unknown,
  variant: v.variant,
};

export type Builders = typeof builders;
