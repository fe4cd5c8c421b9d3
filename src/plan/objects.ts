/** The same object type, with optional fields instead of fields that can be undefined. */
type Defined<T> = { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Returns an object without its undefined fields: in plain data, absence is a missing field. */
export function defined<T extends object>(fields: T): Defined<T> {
  // A loop, because `Object.fromEntries` takes two to three times as long.
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) found[name] = value;
  return found as Defined<T>;
}

type FieldName<T> = T extends unknown ? keyof T & string : never;
type FieldValue<T, K extends string> = T extends unknown ? (K extends keyof T ? T[K] : undefined) : never;

/** Returns a field that only some kinds of a part of a plan have; undefined for other kinds. */
export function fieldOf<T extends object, K extends FieldName<T>>(part: T, name: K): FieldValue<T, K> {
  return (part as Readonly<Record<K, unknown>>)[name] as FieldValue<T, K>;
}

/** Reports whether a value is an object and not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses JSON; undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
