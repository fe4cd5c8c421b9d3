/** How a builder is written in a scenario that is data, in YAML or JSON: `{ ramp: { from: 1, to: 8, step: 1 } }`. */

/** What an argument or an option of a builder is, when it is made by other builders. */
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

/** The form of a builder: its name, and the names of what its function takes by position. Its options keep their names. */
export interface DataForm {
  /** As in data: `triton`. */
  readonly name: string;
  /** The object of the API that has the function: `input` of `input.json(…)`. Absent: the function stands alone, under `name`. */
  readonly space?: string;
  /** Names of the positional arguments. The first one may be written alone: `hold: 16`. Absent: it has none. */
  readonly args?: readonly string[];
  /** Whether its only argument is a list, may be one, or is an object whose names the user chooses. Absent: each argument is a value. */
  readonly takes?: "list" | "one-or-list" | "by-name";
  /** Whether the argument may be left out. */
  readonly isArgOptional?: true;
  /** The option that may be written alone, of a builder without arguments: `intervals: gaps.txt`. */
  readonly alone?: string;
  /** Arguments and options that are made by other builders. */
  readonly parts?: Readonly<Record<string, PartKind>>;
  /** Options that are functions, so that they need a scenario in TypeScript. */
  readonly codeOnly?: readonly string[];
  /** Whether the whole builder needs a scenario in TypeScript. Absent: it can be written as data. */
  readonly isCodeOnly?: true;
}

/** Returns the call of a builder as messages name it: `triton(…)`, unless the builder says it in another way. */
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

/** The form of a target at an address, or at several. */
export function serverForm(name: string, rest: Partial<DataForm> = {}): DataForm {
  return { name, args: ["url"], takes: "one-or-list", ...rest };
}
