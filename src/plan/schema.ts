import * as v from "valibot";
import { numberHint } from "./nearest-name.ts";

/** A schema that accepts any input and returns `T`. */
export type Schema<T> = v.GenericSchema<unknown, T>;

/** Output type of a schema function: `OutputOf<typeof tritonSchema>`. */
export type OutputOf<S extends (...parts: never[]) => v.GenericSchema> = v.InferOutput<ReturnType<S>>;

/** Output type of an object with a function's entries: `EntriesOf<typeof extentEntries>`. */
export type EntriesOf<E extends () => v.ObjectEntries> = v.InferOutput<v.ObjectSchema<ReturnType<E>, undefined>>;

/** The part of a plan that a schema describes: `PlanOf<typeof tlsSchema>`. */
export type PlanOf<S extends (...parts: never[]) => v.GenericSchema> = Frozen<OutputOf<S>>;

/** The parts of a plan that the entries of a table describe, by the keys of the table. */
export type PlansOf<Table> = {
  readonly [K in keyof Table]: Table[K] extends { schema(): Schema<infer Part> } ? Part : never;
};

type Frozen<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

/** Advice on how to correct a value that a schema or a check rejects: a sentence, or a function of the value; undefined: no advice. */
export type Hint<T> = string | ((given: T) => string | undefined);

/** Returns a test for `v.check` with a hint for values that it rejects. */
export function hinted<T>(test: (given: T) => boolean, hint: Hint<T>): (given: T) => boolean {
  return Object.assign((given: T) => test(given), { hint });
}

/** Returns a schema with a hint for values that it rejects itself. Rejections by its parts are not affected. */
export function withHint<S extends v.GenericSchema>(schema: S, hint: Hint<unknown>): S {
  // Valibot copies this member of the schema or check to the issues that it creates.
  return { ...schema, requirement: { hint } };
}

/** Returns the hint of the schema or check that rejected a value; undefined if it has none. */
export function hintOf({ requirement }: v.BaseIssue<unknown>, given: unknown): string | undefined {
  const { hint } = (requirement ?? {}) as { readonly hint?: Hint<unknown> };
  return typeof hint === "function" ? hint(given) : hint;
}

/** Returns the schema of a number. @param rule the requirement in words. Default: a number */
export function numberSchema(rule = "must be a number"): v.NumberSchema<string> {
  return withHint(v.number(rule), numberHint);
}

/** Requires a whole number. */
export function isWhole(): v.IntegerAction<number, string> {
  return v.integer("must be a whole number");
}

export function aboveZero(): v.GtValueAction<number, 0, string> {
  return v.gtValue(0, "must be above 0");
}

/** Returns the schema of a number above 0. */
export function aboveZeroSchema(): Schema<number> {
  return v.pipe(v.number(), aboveZero());
}

/** Requires a number to be at least this large. */
export function atLeast(least: number): v.MinValueAction<number, number, string> {
  return v.minValue(least, `must be ${least} or more`);
}

/** Returns the schema of an integer of any sign. */
export function integerSchema(): Schema<number> {
  return v.pipe(numberSchema(), isWhole());
}

/** Returns the schema of a whole number. @param least the minimum */
export function wholeSchema(least: number): Schema<number> {
  return v.pipe(numberSchema(), isWhole(), atLeast(least));
}

/** Returns the schema of a text that is not empty. @param rule the requirement in words. Default: not empty */
export function filledSchema(
  rule = "must not be empty",
): v.SchemaWithPipe<readonly [v.StringSchema<undefined>, v.NonEmptyAction<string, string>]> {
  return v.pipe(v.string(), v.nonEmpty(rule));
}

export function pathSchema() {
  return filledSchema("must name a file");
}

/** Returns the schema of a protocol for requests. */
export function protocolSchema() {
  return v.picklist(["http", "grpc"], "must be http or grpc");
}

export function flagSchema(): v.BooleanSchema<string> {
  return withHint(v.boolean("must be true or false"), (given) => {
    const meant = FLAG_WORDS.get(String(given).toLowerCase());
    return meant === undefined ? undefined : `Write ${meant}.`;
  });
}

const FLAG_WORDS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "on", "1"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0"].map((word) => [word, false] as const),
]);

/** Returns the schema of a list. @param what name of its items, in the plural */
export function listSchema<S extends v.GenericSchema>(item: S, what: string): v.ArraySchema<S, string> {
  return withHint(v.array(item, `must be a list of ${what}`), IN_BRACKETS);
}

/** Returns the schema of an object with values by name. Rejects lists. @param rule the requirement in words. Default: values by name */
export function recordSchema<K extends v.GenericSchema<string, string | number | symbol>, S extends v.GenericSchema>(
  name: K,
  value: S,
  rule = "must be values by name",
): v.RecordSchema<K, S, string> {
  const schema = v.record(name, value, rule);
  const list = withHint(v.never(rule), "Write { NAME: … }.");
  return {
    ...schema,
    "~run": (dataset, config) =>
      (Array.isArray(dataset.value) ? list["~run"](dataset, config) : schema["~run"](dataset, config)) as ReturnType<
        (typeof schema)["~run"]
      >,
  };
}

/** Hint for a single value where a list is required. */
export const IN_BRACKETS = "Put it in brackets: [ … ].";

/**
 * Returns a schema that is chosen by the input. The compiler does not know the types of the possible schemas, so `T` is only
 * correct if the schemas that `choose` returns match it.
 */
export function lazySchema<T>(choose: (input: unknown) => v.GenericSchema): Schema<T> {
  return v.lazy(choose as (input: unknown) => Schema<T>);
}

/** Returns the schema of one of several objects, which differ in `kind`. `T` is only correct if their schemas match it. */
export function kindSchema<T>(objects: readonly v.GenericSchema[], message?: string): Schema<T> {
  return v.variant("kind", objects as never, message);
}
