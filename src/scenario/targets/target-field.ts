import { join } from "node:path";
import * as v from "valibot";
import type { Schema } from "../../plan/schema.ts";
import type { DataForm, PartKind } from "../form.ts";

/**
 * Options of targets as entries: an entry has everything that the scenario language needs to know about an option,
 * except its type.
 */

/**
 * An option of a target: its check, and its effect on the plan. `S` is the schema of the value, `P` the field of the plan, `V` the type of
 * that field.
 */
export interface TargetField<S extends v.GenericSchema = v.GenericSchema, P extends string = string, V = unknown> {
  readonly schema: S;
  /** The field of the plan. Absent: the builder itself uses the option. */
  readonly at?: P;
  /** Returns the value for the plan; undefined: none. Absent: the option's value. */
  to?(value: v.InferOutput<S>, folder: string): V;
  /** Kind of builder that makes the value in YAML and JSON. Absent: it is written directly. */
  readonly part?: PartKind;
  /** True if it can be written only in TypeScript. */
  readonly isCodeOnly?: true;
}

/** Options by name. */
type TargetFields = Readonly<Record<string, TargetField>>;

type AllKeys<O> = O extends unknown ? keyof O : never;
type ValueOf<O, K> = O extends unknown ? (K extends keyof O ? O[K] : never) : never;

/** Type that a schema may produce for a type: the type itself, where an optional field may also be undefined. */
type Loose<T> = T extends readonly unknown[] | ArrayBufferView | ((...args: never[]) => unknown)
  ? T
  : T extends object
    ? { readonly [K in keyof T]: Loose<T[K]> | (object extends Pick<T, K> ? undefined : never) }
    : T;

/** Entries for the options type `O`: one for each option, whose schema accepts only the option's type. */
export type FieldsFor<O> = {
  readonly [K in AllKeys<O>]-?: TargetField<Schema<Loose<ValueOf<O, K>> | undefined>>;
};

/** Creates an option that sets a field of the plan. @param to returns the value for the plan. Default: the option's value */
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

/** Creates an option that the builder itself reads. */
export function inner<S extends v.GenericSchema>(
  schema: S,
  form: Pick<TargetField, "part" | "isCodeOnly"> = {},
): TargetField<S, never, never> {
  return { schema, ...form };
}

/** The names of the fields of a plan, by the name of their option: `{ version: "modelVersion" }`. */
type FieldNames<E> = Readonly<Record<string, keyof E & string>>;

/**
 * Creates options that a plan contains unchanged. Their schemas are those of the plan's fields, where `"none"` means that the
 * option is omitted.
 */
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

/** The fields of a plan that options set. */
type Landed<F extends TargetFields> = {
  [K in keyof F as undefined extends PlannedBy<F[K]> ? never : PlaceOf<F[K]>]: PlannedBy<F[K]>;
} & {
  [K in keyof F as undefined extends PlannedBy<F[K]> ? PlaceOf<F[K]> : never]?: Exclude<PlannedBy<F[K]>, undefined>;
};
type PlaceOf<F> = F extends TargetField<v.GenericSchema, infer P> ? P : never;
type PlannedBy<F> = F extends TargetField<v.GenericSchema, string, infer V> ? V : never;

/** Returns the fields of a plan that options set, without undefined ones. @param folder base of relative paths */
export function landed<F extends TargetFields>(fields: F, options: object, folder: string): Landed<F> {
  const given = options as Readonly<Record<string, unknown>>;
  const values = Object.entries(fields).flatMap(([name, { at, to }]) => {
    const value = to === undefined ? given[name] : to(given[name], folder);
    return at === undefined || value === undefined ? [] : [[at, value]];
  });
  return Object.fromEntries(values) as Landed<F>;
}

/** Returns a path that begins with a dot as a path in the folder; other paths and names unchanged. */
export function fromFolder(path: string, folder: string): string {
  return path.startsWith(".") ? join(folder, path) : path;
}

/** Returns the parts of a builder's form that depend on its options. */
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
