import type * as valibot from "valibot";

/**
 * The schema library, handed to whoever describes a part of the plan. It is not imported by those modules: a run begins before its plan
 * has been checked to the end, and loading the library must not delay the first request.
 */
export type Valibot = typeof valibot;

/** A schema that accepts anything and yields `T`. */
export type Schema<T> = valibot.GenericSchema<unknown, T>;
