/** The expressions of a scenario to be written: they are formatted as text, and evaluated for its plan. */

/** An expression. Plain data represents itself. */
export type Source = Call | Constant | string | number | boolean | readonly Source[] | SourceFields;

/** Fields of an object, in order. Undefined fields are omitted. */
export interface SourceFields {
  readonly [name: string]: Source | undefined;
}

/** A function of Rampart's API with the name that scenarios use: `{ hold }`, `{ "input.json": input.json }`. */
export type NamedBuilder = Readonly<Record<string, (...args: never[]) => object>>;

/** A call of one of Rampart's builders, with method calls on its result. */
export class Call {
  /** A single function by its name. */
  readonly builder: NamedBuilder;
  readonly args: readonly Source[];
  readonly methods: readonly (readonly [name: string, args: readonly Source[]])[];

  constructor(builder: NamedBuilder, args: readonly Source[], methods: Call["methods"] = []) {
    this.builder = builder;
    this.args = args;
    this.methods = methods;
  }

  get name(): string {
    return Object.keys(this.builder)[0] as string;
  }

  /** Returns the expression that calls a method of this one. */
  with(name: string, ...args: Source[]): Call {
    return new Call(this.builder, this.args, [...this.methods, [name, args]]);
  }
}

/** A named constant of the file. */
export class Constant {
  readonly name: string;
  readonly value: Source;

  constructor(name: string, value: Source) {
    this.name = name;
    this.value = value;
  }
}

/** Creates a call of a builder. Empty objects at the end are omitted. */
export function call(builder: NamedBuilder, ...args: Source[]): Call {
  const last = args.at(-1);
  const isEmpty = last !== undefined && isFields(last) && fieldsOf(last).length === 0;
  return new Call(builder, isEmpty ? args.slice(0, -1) : args);
}

/** Returns the fields that are not undefined. */
export function fieldsOf(fields: SourceFields): [string, Source][] {
  return Object.entries(fields).filter((field): field is [string, Source] => field[1] !== undefined);
}

/** Reports whether an expression is an object. */
export function isFields(source: Source): source is SourceFields {
  return typeof source === "object" && !(source instanceof Call || source instanceof Constant || Array.isArray(source));
}

/** Returns the parts of an expression. */
export function partsOfSource(source: Source): readonly Source[] {
  if (source instanceof Call) return [...source.args, ...source.methods.flatMap(([, args]) => args)];
  if (source instanceof Constant) return [source.value];
  if (Array.isArray(source)) return source as readonly Source[];
  return isFields(source) ? fieldsOf(source).map(([, value]) => value) : [];
}
