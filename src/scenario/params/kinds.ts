import * as v from "valibot";
import { durationHint, nearestDuration, nearestName, nearestPercent } from "../../plan/nearest-name.ts";
import { flagSchema, numberSchema } from "../../plan/schema.ts";
import { parseDurationNs, parsePercent } from "../../plan/units.ts";
import { strictOptions } from "../fields.ts";
import type { DataForm } from "../form.ts";
import type { Parameter, ParameterValue } from "./parameter.ts";

/** The table of the kinds of parameters. */

const OPTION_SCHEMAS = {
  description: v.string("must be text"),
  min: numberSchema(),
  max: numberSchema(),
  secret: flagSchema(),
  values: v.pipe(v.array(v.string("must be text"), "must be a list"), v.minLength(1, "must have a value")),
};

/** Required options of kinds. */
const NEEDED: readonly string[] = ["values"] satisfies (keyof ParameterData)[];

export type ParameterData = {
  readonly [K in keyof typeof OPTION_SCHEMAS]?: v.InferOutput<(typeof OPTION_SCHEMAS)[K]>;
};

/** Returns the schema of a parameter's options. @param names names of the options besides `description` */
export function optionsSchema(names: readonly string[]) {
  const taken = Object.entries(OPTION_SCHEMAS).filter(([name]) => ["description", ...names].includes(name));
  return strictOptions(
    Object.fromEntries(taken.map(([name, schema]) => [name, NEEDED.includes(name) ? schema : v.optional(schema)])),
  );
}

/** A kind of parameter: everything that the other modules ask about it. */
interface ParameterKind {
  readonly form: DataForm;
  /** Schema of its default in YAML and JSON. Default: text. */
  readonly initialSchema?: v.GenericSchema;
  /** The value if no default is given. Absent: a value must be given. */
  readonly initial?: ParameterValue;
  /** Placeholder of a value in help. */
  readonly placeholder: string;
  /** Names of its options besides `description`. */
  readonly options: readonly (keyof ParameterData)[];
  /** Converts text from the command line or the environment; undefined when it has the wrong form. */
  parse(text: string): ParameterValue | undefined;
  /** Returns whether a value has the right type. */
  accepts(value: unknown, options: ParameterData): boolean;
  /** Suggests a value for a mistyped one. Absent: this kind has no suggestions. */
  nearest?(text: string, options: ParameterData): string | undefined;
  /** Returns a hint for a value without a suggestion. Absent: the message is enough. */
  hint?(text: string): string;
  /** Completes "must be …" for a value that is not accepted. */
  describe(options: ParameterData): string;
}

const FLAG_WORDS: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false };

export const PARAMETER_KINDS: Readonly<Record<Parameter["kind"], ParameterKind>> = {
  integer: {
    initialSchema: v.pipe(v.number(), v.integer()),
    form: { name: "integer", space: "param", args: ["default"], isArgOptional: true },
    placeholder: "N",
    options: ["min", "max"],
    parse: (text) => (/^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : undefined),
    accepts: (value, options) => Number.isSafeInteger(value) && isWithin(value as number, options),
    describe: (options) => `a whole number${describeRange(options)}`,
  },
  number: {
    initialSchema: v.number(),
    form: { name: "number", space: "param", args: ["default"], isArgOptional: true },
    placeholder: "NUMBER",
    options: ["min", "max"],
    parse: (text) => (text.trim() === "" ? undefined : Number(text)),
    accepts: (value, options) => Number.isFinite(value) && isWithin(value as number, options),
    describe: (options) => `a number${describeRange(options)}`,
  },
  text: {
    form: { name: "text", space: "param", args: ["default"], isArgOptional: true },
    placeholder: "TEXT",
    options: ["secret"],
    parse: (text) => text,
    accepts: (value) => typeof value === "string",
    describe: () => "text",
  },
  choice: {
    form: { name: "choice", space: "param", args: ["values"], takes: "list" },
    placeholder: "NAME",
    options: ["values"],
    parse: (text) => text,
    accepts: (value, { values = [] }) => values.includes(value as string),
    nearest: (text, { values = [] }) => nearestName(text, values),
    describe: ({ values = [] }) => `one of ${values.join(", ")}`,
  },
  duration: {
    form: { name: "duration", space: "param", args: ["default"], isArgOptional: true },
    placeholder: "DURATION",
    options: [],
    parse: (text) => text.trim(),
    accepts: (value) => typeof value === "string" && parseDurationNs(value) !== undefined,
    nearest: nearestDuration,
    hint: (text) => durationHint(text, ""),
    describe: () => 'a duration with its unit, such as "25 ms", "5 s" or "2 min"',
  },
  percent: {
    form: { name: "percent", space: "param", args: ["default"], isArgOptional: true },
    placeholder: "PERCENT",
    options: [],
    parse: (text) => text.trim(),
    accepts: (value) => typeof value === "string" && parsePercent(value) !== undefined,
    nearest: nearestPercent,
    describe: () => 'a percentage with its sign, such as "1 %"',
  },
  flag: {
    initialSchema: v.boolean(),
    initial: false,
    form: { name: "flag", space: "param", args: ["default"], isArgOptional: true },
    placeholder: "true|false",
    options: [],
    parse: (text) => FLAG_WORDS[text.trim().toLowerCase()],
    accepts: (value) => typeof value === "boolean",
    describe: () => "true or false",
  },
};

function isWithin(value: number, { min, max }: ParameterData): boolean {
  return (min === undefined || value >= min) && (max === undefined || value <= max);
}

function describeRange({ min, max }: ParameterData): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of ${min} or more`;
  return max === undefined ? "" : ` of ${max} or less`;
}
