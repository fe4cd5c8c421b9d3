import { nearestName, nearHint } from "../../plan/nearest-name.ts";
import type { Duration, Percent } from "../../plan/units.ts";
import { refuseMore } from "../arguments.ts";

/** The builders of parameters: values of a scenario that the command line and the environment can change. */

/** The value of a parameter. */
export type ParameterValue = number | string | boolean;

/** A parameter with values of type `T`. */
export interface Parameter<T extends ParameterValue = ParameterValue> {
  /** Selects the entry in the table of kinds. */
  readonly kind: "integer" | "number" | "percent" | "text" | "choice" | "duration" | "flag";
  /** Absent: a value must be given. */
  readonly initial?: T;
  readonly options: object;
}

/** The parameters of a scenario by name. */
export type ParameterTable = Readonly<Record<string, Parameter>>;

/** The values of parameters by name. */
export type ValuesOf<D extends ParameterTable> = {
  readonly [N in keyof D]: D[N] extends Parameter<infer T> ? T : never;
};

/** Options of {@link choice}, {@link duration}, {@link percent} and {@link flag}. */
export interface ParameterOptions {
  /** Description, for `--help`. Default: none. */
  readonly description?: string;
}

/** Options of {@link integer} and {@link number}. */
export interface NumberParameterOptions extends ParameterOptions {
  /** The smallest value. Default: none. */
  readonly min?: number;
  /** The largest value. Default: none. */
  readonly max?: number;
}

/** Options of {@link text}. */
export interface TextParameterOptions extends ParameterOptions {
  /** Whether the value is a secret, which reports, plans and errors do not show. Default: false. */
  readonly secret?: boolean;
}

/**
 * A whole number.
 * @param initial the default. Without it, a value must be given
 * @example
 * param.integer(16, { min: 1, max: 512, description: "Users at the same time." })
 */
export function integer(initial: number, options?: NumberParameterOptions): Parameter<number>;
export function integer(options?: NumberParameterOptions): Parameter<number>;
export function integer(first?: number | NumberParameterOptions, options?: NumberParameterOptions): Parameter<number> {
  refuseMore("param.integer(default, options)", arguments);
  return create("integer", first, options);
}

/**
 * A number.
 * @param initial the default; without it, a value must be given
 * @example
 * param.number(1.5, { min: 1, max: 4, description: "Speed of the replay." })
 */
export function number(initial: number, options?: NumberParameterOptions): Parameter<number>;
export function number(options?: NumberParameterOptions): Parameter<number>;
export function number(first?: number | NumberParameterOptions, options?: NumberParameterOptions): Parameter<number> {
  refuseMore("param.number(default, options)", arguments);
  return create("number", first, options);
}

/**
 * Text.
 * @param initial the default; without it, a value must be given
 * @example
 * param.text("llama", { description: "Model." })
 */
export function text(initial: string, options?: TextParameterOptions): Parameter<string>;
export function text(options?: TextParameterOptions): Parameter<string>;
export function text(first?: string | TextParameterOptions, options?: TextParameterOptions): Parameter<string> {
  refuseMore("param.text(default, options)", arguments);
  return create("text", first, options);
}

/**
 * A duration with its unit.
 * @param initial the default; without it, a value must be given
 * @example
 * param.duration("30 s", { description: "How long to measure." })
 */
export function duration(options?: ParameterOptions): Parameter<Duration>;
export function duration(initial: Duration, options?: ParameterOptions): Parameter<Duration>;
export function duration(first?: Duration | ParameterOptions, options?: ParameterOptions): Parameter<Duration> {
  refuseMore("param.duration(default, options)", arguments);
  return create("duration", first, options);
}

/**
 * A percentage with its sign.
 * @param initial the default; without it, a value must be given
 * @example
 * param.percent("1 %", { description: "Allowed share of failed requests." })
 */
export function percent(initial: Percent, options?: ParameterOptions): Parameter<Percent>;
export function percent(options?: ParameterOptions): Parameter<Percent>;
export function percent(first?: Percent | ParameterOptions, options?: ParameterOptions): Parameter<Percent> {
  refuseMore("param.percent(default, options)", arguments);
  return create("percent", first, options);
}

/**
 * True or false: `--set NAME` is true.
 * @param initial default: false
 * @example
 * param.flag(false, { description: "Stream responses." })
 */
export function flag(initial = false, options: ParameterOptions = {}): Parameter<boolean> {
  refuseMore("param.flag(default, options)", arguments);
  return { kind: "flag", initial, options };
}

/**
 * One of several texts. Default: the first one.
 * @example
 * param.choice(["http", "grpc"], { description: "Protocol." })
 */
export function choice<const V extends string>(
  values: readonly [V, ...V[]],
  options: ParameterOptions = {},
): Parameter<V> {
  refuseMore("param.choice(values, options)", arguments);
  return { kind: "choice", initial: values[0], options: { ...options, values } };
}

/** Values of a scenario that the command line and the environment can change: the functions that make its `params`. */
export const param = { choice, duration, flag, integer, number, percent, text };

function create<T extends ParameterValue>(
  kind: Parameter["kind"],
  first: NoInfer<T> | object | undefined,
  options: object | undefined,
): Parameter<T> {
  const isOptions = first === undefined || (typeof first === "object" && first !== null);
  if (first !== undefined && isOptions && options !== undefined) refuseMore(`param.${kind}(options)`, [first, options]);
  return isOptions ? { kind, options: first ?? {} } : { kind, initial: first as T, options: options ?? {} };
}

/** Returns a hint for a mistyped name of a parameter. @param write formats a parameter as it is used. Default: its name */
export function parameterHint(name: string, names: readonly string[], write = (near: string) => near): string {
  const near = nearestName(name, names);
  const known = names.length === 0 ? "The scenario has no params." : `The parameters are ${names.join(", ")}.`;
  return nearHint(near && write(near), known);
}
