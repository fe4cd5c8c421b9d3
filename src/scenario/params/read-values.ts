import type { Text } from "../../plan/messages.ts";
import { nearestName, nearHint } from "../../plan/nearest-name.ts";
import type { ParametersPlan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { HIDDEN_VALUE, maskSecrets, registerSecret } from "../../plan/secrets.ts";
import { showValue } from "../../plan/show-value.ts";
import { PARAMETER_KINDS } from "./kinds.ts";
import { type ParameterValue, parameterHint } from "./parameter.ts";
import { checkTable, type NamedParameter, VARIABLE_PREFIX } from "./table.ts";

/** Values that a user gives to parameters. */
export interface GivenValues {
  /** `NAME=VALUE`, or `NAME` for a flag, in the order of the command line. Each name has at most one value. */
  readonly sets: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ReadParameters {
  /** The values for the scenario's functions. */
  readonly values: Readonly<Record<string, ParameterValue>>;
  /** The values for reports. */
  readonly plan: ParametersPlan;
}

interface GivenText {
  readonly from: ParametersPlan[string]["from"];
  /** Name in errors: `--set users` or `RAMPART_USERS`. */
  readonly path: Text;
  readonly text: string;
}

/** The option that sets a parameter. */
const SET: Text = { setting: "overrides.set" };

/**
 * Reads the values: from the command line, otherwise from the environment, otherwise the defaults. @param problems receives
 * all problems
 */
export function readParameters(params: unknown, { sets, env }: GivenValues, problems: Problem[]): ReadParameters {
  const earlier = problems.length;
  const parameters = checkTable(params, problems);
  // If the table of names is not valid, a name cannot be reported as unknown.
  const assigned = readAssignments(sets, problems.length > earlier ? undefined : parameters, problems);
  problems.push(...findMisspelt(parameters, env));
  const values: Record<string, ParameterValue> = {};
  const plan: Record<string, ParametersPlan[string]> = {};
  for (const parameter of parameters) {
    const { name, variable, options } = parameter;
    const text = env[variable];
    const given = assigned.get(name) ?? (text ? { from: "environment" as const, path: variable, text } : undefined);
    if (options.secret === true) registerSecret(String(given?.text ?? parameter.initial ?? ""));
    const value = given === undefined ? readDefault(parameter, problems) : readText(parameter, given, problems);
    if (value === undefined) continue;
    values[name] = value;
    plan[name] = { value: options.secret === true ? HIDDEN_VALUE : value, from: given?.from ?? "default" };
  }
  return { values: Object.freeze(values), plan };
}

function readAssignments(
  sets: readonly string[],
  parameters: readonly NamedParameter[] | undefined,
  problems: Problem[],
): Map<string, GivenText> {
  const assigned = new Map<string, GivenText>();
  for (const set of sets) {
    const [name = ""] = set.split("=", 1);
    const parameter = parameters?.find((other) => other.name === name);
    const path = [SET, ` ${name}`];
    const text = set.includes("=") ? set.slice(name.length + 1) : parameter?.kind === "flag" ? "true" : undefined;
    const earlier = assigned.get(name)?.text;
    if (name === "")
      problems.push(problem("invalid-value", SET, "is not NAME=VALUE", unknownName(name, parameters ?? []).hint, set));
    else if (parameter === undefined) {
      if (parameters !== undefined) problems.push(unknownName(name, parameters));
    } else if (text !== undefined && earlier !== undefined && earlier !== text) {
      const values = parameter.options.secret === true ? "" : `, as ${earlier} and as ${text}`;
      problems.push(problem("conflict", path, `is given twice${values}`, "Give one."));
    } else if (text !== undefined) assigned.set(name, { from: "command line", path, text });
    else {
      const assignment = `${name}=${PARAMETER_KINDS[parameter.kind].placeholder}`;
      problems.push(problem("missing", path, "needs a value", { say: "write-parameter", assignment }));
    }
  }
  return assigned;
}

/** Finds environment variables with names similar to a parameter's variable. Other programs may use variables with the same prefix. */
function findMisspelt(parameters: readonly NamedParameter[], env: GivenValues["env"]): Problem[] {
  const unset = parameters.flatMap(({ variable }) => (env[variable] ? [] : [variable.slice(VARIABLE_PREFIX.length)]));
  const known = new Set(parameters.map(({ variable }) => variable));
  return Object.keys(env).flatMap((name) => {
    if (!name.toUpperCase().startsWith(VARIABLE_PREFIX) || known.has(name) || !env[name]) return [];
    const near = nearestName(name.slice(VARIABLE_PREFIX.length).toUpperCase(), unset);
    if (near === undefined) return [];
    const hint = `Did you mean ${VARIABLE_PREFIX}${near}? Otherwise unset it.`;
    return [problem("unknown-name", name, "is the variable of no parameter of the scenario", hint)];
  });
}

function unknownName(name: string, parameters: readonly NamedParameter[]): Problem {
  const hint = parameterHint(
    name,
    parameters.map((parameter) => parameter.name),
  );
  return problem("unknown-name", [SET, ` ${name}`], "is not a parameter of the scenario", hint);
}

function readDefault({ name, variable, kind, initial }: NamedParameter, problems: Problem[]) {
  if (initial !== undefined) return initial;
  const hint = { say: "give-parameter", assignment: `${name}=${PARAMETER_KINDS[kind].placeholder}`, variable } as const;
  problems.push(problem("missing", [SET, ` ${name}`], "this parameter has no default", hint));
  return undefined;
}

function readText({ kind, options }: NamedParameter, { path, text }: GivenText, problems: Problem[]) {
  const value = PARAMETER_KINDS[kind].parse(text);
  if (value !== undefined && PARAMETER_KINDS[kind].accepts(value, options)) return value;
  const { nearest, hint: fix } = PARAMETER_KINDS[kind];
  const hint = nearHint(nearest?.(text, options), fix?.(text) ?? "");
  const message = `must be ${PARAMETER_KINDS[kind].describe(options)}`;
  problems.push(problem("invalid-value", path, message, hint, maskSecrets(showValue(text))));
  return undefined;
}

export interface ParameterHelp {
  readonly name: string;
  readonly placeholder: string;
  readonly variable: string;
  /** Its accepted values, its description and its default, in sentences. */
  readonly text: string;
}

/** Describes the parameters of a scenario. @param problems receives the problems with them */
export function describeParameters(params: unknown, problems: Problem[]): ParameterHelp[] {
  return checkTable(params, problems).map(({ name, kind, initial, options, variable }) => {
    const { placeholder, describe } = PARAMETER_KINDS[kind];
    const { description = "", secret = false } = options;
    const takes = describe(options).replace(/^./, (letter) => letter.toUpperCase());
    const preset = secret && initial !== undefined ? HIDDEN_VALUE : initial;
    const parts = [
      description,
      `${takes}${secret ? ", which is not shown" : ""}.`,
      preset === undefined ? "Required." : `Default: ${preset}.`,
    ];
    const text = parts.map((part) => (part === "" || /[.?!]$/.test(part) ? part : `${part}.`)).join(" ");
    return { name, placeholder, variable, text: text.trim() };
  });
}
