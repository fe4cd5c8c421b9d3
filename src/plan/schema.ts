import * as v from "valibot";

/** A schema that accepts anything and yields `T`. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/**
 * What plans' schemas are built with: valibot's functions by their names there. They are handed to what builds a schema, so that schemas
 * can stand beside what every run needs at its start without loading valibot for it. Elsewhere import types only from this file.
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
  string: v.string,
  tuple: v.tuple,
  unknown: v.unknown,
  variant: v.variant,
};

export type Builders = typeof builders;
