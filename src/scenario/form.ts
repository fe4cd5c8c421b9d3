/** Form of builders in a scenario that is data, in YAML or JSON: `{ ramp: { from: 1, to: 8, step: 1 } }`. */

/** Kind of an argument or an option that is made by other builders. */
export type PartKind =
  | "target"
  | "load"
  | "loads"
  | "loads-by-name"
  | "steady-load"
  | "inputs"
  | "assertions"
  | "limits"
  | "members"
  | "body";

/**
 * The form of a builder: its name, and the names of its function's positional arguments. Options have the same names as in
 * code.
 */
export interface DataForm {
  /** Name in data: `triton`. */
  readonly name: string;
  /**
   * The object of the API that contains the function: `input` for `input.json(…)`. Absent: the function is exported as `name`.
   */
  readonly space?: string;
  /** Names of the positional arguments. The first one may be written alone: `hold: 16`. Absent: no arguments. */
  readonly args?: readonly string[];
  /**
   * Whether the only argument is a list, may be a list, or is an object whose names the user chooses. Absent: each argument is a
   * single value.
   */
  readonly takes?: "list" | "one-or-list" | "by-name";
  /** True if the argument may be omitted. */
  readonly isArgOptional?: true;
  /** Option that may be written alone, for a builder without arguments: `intervals: gaps.txt`. */
  readonly alone?: string;
  /** Arguments and options that are made by other builders. */
  readonly parts?: Readonly<Record<string, PartKind>>;
  /** Options that are functions, so that they need a scenario in TypeScript. */
  readonly codeOnly?: readonly string[];
  /** True if the whole builder needs a scenario in TypeScript. Absent: it can be written as data. */
  readonly isCodeOnly?: true;
}

/** Returns the call of a builder for messages: `triton(…)`, unless the builder sets another text. */
export function callOf({ form, call }: { readonly form: DataForm; readonly call?: string }): string {
  return call ?? `${codeNameOf(form)}(…)`;
}

/** Returns the name of a builder's function in code: `input.json`. */
export function codeNameOf({ name, space }: DataForm): string {
  return space === undefined ? name : `${space}.${name}`;
}

/** Lists builders for a message: `triton(…), openai(…) or mix(…)`. */
export function listCalls(builders: readonly { readonly form: DataForm; readonly call?: string }[]): string {
  const calls = builders.map(callOf);
  return `${calls.slice(0, -1).join(", ")} or ${calls.at(-1)}`;
}

/** Returns the form of a target with one or several addresses. */
export function serverForm(name: string, rest: Partial<DataForm> = {}): DataForm {
  return { name, args: ["url"], takes: "one-or-list", ...rest };
}
