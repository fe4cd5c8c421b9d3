import * as v from "valibot";
import type { Schema } from "../../plan/schema.ts";
import type { DataForm, PartKind } from "../form.ts";

/** Options of targets as entries: each says all that the scenario language does with an option besides its type. */

/**
 * An option of a target: how its value is checked, and what it puts into the plan. `S` is the schema of the value, `P` the field of the plan,
 * `V` what that holds.
 */
export interface TargetField<S extends v.GenericSchema = v.GenericSchema, P extends string = string, V = unknown> {
  readonly schema: S;
  /** The field of the plan. Absent: the builder itself does what the option says. */
  readonly at?: P;
  /** Returns what the plan has; undefined: nothing. Absent: the value itself. */
  to?(value: v.InferOutput<S>, folder: string): V;
  /** What makes the value in YAML and JSON. Absent: it is written as it is. */
  readonly part?: PartKind;
  /** Whether it can only be written in TypeScript. */
  readonly isCodeOnly?: true;
}

/** Options by their name. */
type TargetFields = Readonly<Record<string, TargetField>>;

type AllKeys<O> = O extends unknown ? keyof O : never;
type ValueOf<O, K> = O extends unknown ? (K extends keyof O ? O[K] : never) : never;

/** What a schema may let through for a type: the type, where an optional field may also be undefined. */
type Loose<T> = T extends readonly unknown[] | ArrayBufferView | ((...args: never[]) => unknown)
  ? T
  : T extends object
    ? { readonly [K in keyof T]: Loose<T[K]> | (object extends Pick<T, K> ? undefined : never) }
    : T;

/** Fields for the options type `O`: one for each of its options, whose schema lets through nothing else than the type. */
export type FieldsFor<O> = {
  readonly [K in AllKeys<O>]-?: TargetField<Schema<Loose<ValueOf<O, K>> | undefined>>;
};

/** Makes an option that lands in a field of the plan. @param to what the plan has for the value. Default: the value */
export function landing<S extends v.GenericSchema, const P extends string>(
  schema: S,
  at: P,
): TargetField<S, P, v.InferOutput<S>>;
export function landing<S extends v.GenericSchema, const P extends string, V>(
  schema: S,
  at: P,
  to: (value: v.InferOutput<S>, folder: string) => V,
): TargetField<S, P, V>;
export function landing(schema: v.GenericSchema, at: string, to?: TargetField["to"]): TargetField {
  return { schema, at, ...(to && { to }) };
}

/** Makes an option that the builder itself reads. */
export function inner<S extends v.GenericSchema>(
  schema: S,
  form: Pick<TargetField, "part" | "isCodeOnly"> = {},
): TargetField<S, never, never> {
  return { schema, ...form };
}

/** The names of the fields of a plan, by the name of their option: `{ version: "modelVersion" }`. */
type FieldNames<E> = Readonly<Record<string, keyof E & string>>;

/** Makes options that a plan has as they are: their schemas are those of its fields, where `"none"` is to leave the option out. */
export function planFields<E extends v.ObjectEntries, const N extends FieldNames<E>>(entries: E, names: N) {
  const fields = Object.entries(names).map(([name, at]) => [name, landing(v.optional(withoutNone(entries[at])), at)]);
  type Value<K extends keyof N> = Exclude<v.InferOutput<E[N[K]]>, "none">;
  return Object.fromEntries(fields) as {
    readonly [K in keyof N]: TargetField<v.OptionalSchema<Schema<Value<K>>, undefined>, N[K], Value<K> | undefined>;
  };
}

/** Returns the schemas of options, as an object's entries. */
export function schemasOf<F extends TargetFields>(fields: F) {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])) as {
    readonly [K in keyof F]: F[K]["schema"];
  };
}

/** What options put into a plan. */
type Landed<F extends TargetFields> = {
  [K in keyof F as undefined extends PlannedBy<F[K]> ? never : PlaceOf<F[K]>]: PlannedBy<F[K]>;
} & {
  [K in keyof F as undefined extends PlannedBy<F[K]> ? PlaceOf<F[K]> : never]?: Exclude<PlannedBy<F[K]>, undefined>;
};
type PlaceOf<F> = F extends TargetField<v.GenericSchema, infer P> ? P : never;
type PlannedBy<F> = F extends TargetField<v.GenericSchema, string, infer V> ? V : never;

/** Returns what options put into a plan, those that say nothing left out. @param folder base of relative paths */
export function landed<F extends TargetFields>(fields: F, options: object, folder: string): Landed<F> {
  const given = options as Readonly<Record<string, unknown>>;
  const values = Object.entries(fields).flatMap(([name, { at, to }]) => {
    const value = to === undefined ? given[name] : to(given[name], folder);
    return at === undefined || value === undefined ? [] : [[at, value]];
  });
  return Object.fromEntries(values) as Landed<F>;
}

/** Returns what the form of a builder says about its options. */
export function formOf(fields: TargetFields): Pick<DataForm, "parts" | "codeOnly"> {
  const all = Object.entries(fields);
  const parts = all.flatMap(([name, { part }]) => (part === undefined ? [] : [[name, part]]));
  const codeOnly = all.flatMap(([name, { isCodeOnly }]) => (isCodeOnly ? [name] : []));
  return { parts: Object.fromEntries(parts), codeOnly };
}

function withoutNone(schema: v.GenericSchema | undefined): v.GenericSchema {
  const { options = [] } = schema as { readonly options?: readonly unknown[] };
  const named = options.filter((option) => option !== "none") as string[];
  if (schema === undefined || named.length === options.length) return schema ?? v.never();
  const message = `must be ${named.map((name) => `"${name}"`).join(" or ")}`;
  const [only = "", ...more] = named;
  return more.length === 0 ? v.literal(only, message) : v.picklist(named, message);
}
